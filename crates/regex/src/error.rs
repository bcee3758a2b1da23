// SPDX-License-Identifier: GPL-3.0-or-later
//! Why an expression cannot be compiled.

/// Why an expression cannot be compiled. The C library refuses the same expressions, except for the
/// last two limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// `\1` stands before the end of its group, or there is no such group.
    #[error("back-reference to a group that is not complete")]
    BackReference,
    /// `\)` of a basic expression closes no group.
    #[error("closing parenthesis without an opening one")]
    UnopenedGroup,
    /// A group has no closing parenthesis.
    #[error("group without a closing parenthesis")]
    UnclosedGroup,
    /// A quantifier stands where there is nothing to repeat.
    #[error("nothing to repeat")]
    NothingToRepeat,
    /// The expression ends in a single backslash.
    #[error("trailing backslash")]
    TrailingBackslash,
    /// A basic expression has a `*` or `\{` after another quantifier.
    #[error("two quantifiers in a row")]
    TwoQuantifiers,
    /// `{}` without a number.
    #[error("a brace without a count")]
    NoCount,
    /// `{1` without `}`, or with something else between the braces.
    #[error("a brace that is not closed properly")]
    UnclosedBrace,
    /// `{2,1}`.
    #[error("a range of counts that runs backwards")]
    BackwardCounts,
    /// A count above 32,767.
    #[error("a count above 32767")]
    LargeCount,
    /// `[a` without a closing bracket.
    #[error("a bracket that is not closed")]
    UnclosedBracket,
    /// `[a-c-e]`: the second range has no beginning.
    #[error("a range in a bracket expression with no beginning")]
    RangeWithoutBeginning,
    /// `[a-[:digit:]]`.
    #[error("a range in a bracket expression that ends in a class")]
    RangeToClass,
    /// `[z-a]`.
    #[error("a range in a bracket expression that runs backwards")]
    BackwardRange,
    /// In UTF-8, a range of characters beyond ASCII: these have no order.
    #[error("a range in a bracket expression between unordered characters")]
    UnorderedRange,
    /// `[[.hyphen.]]`: only single characters are known.
    #[error("an unknown collating element")]
    CollatingElement,
    /// `[[:foo:]]`.
    #[error("an unknown character class")]
    CharacterClass,
    /// Groups and quantifiers are nested more than 250 deep.
    #[error("nested too deep")]
    TooDeep,
    /// The counts of the expression amount to more than 32,768 steps.
    #[error("too large")]
    TooLarge,
}
