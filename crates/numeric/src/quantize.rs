// SPDX-License-Identifier: GPL-3.0-or-later
//! Weights as stored: u16 fixed point with five fractional bits (spec model 1.1).

/// Steps per nat of the grid that stored weights lie on.
pub const STEPS_PER_NAT: f32 = 32.0;

/// A weight of at most 2047.96875 nats as stored: its value times 32.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct QuantWeight(pub u16);

impl QuantWeight {
    /// The largest weight, which also stands for infinity.
    #[doc(hidden)]
    pub const MAX: Self = Self(u16::MAX);

    /// Stores `w`: NaN and negative weights, which rounding can produce next to 0, become 0;
    /// anything above 2048 becomes the largest value, and 2048 itself wraps to 0, as in dbacl
    /// 1.14.1.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // truncation is the format
    #[doc(hidden)]
    pub fn from_weight(w: f32) -> Self {
        if w > 2048.0 {
            Self::MAX
        } else {
            // `as` maps NaN and negative values to 0; 65536 wraps to 0.
            Self((w * STEPS_PER_NAT) as u32 as u16)
        }
    }

    /// The weight in nats; exact.
    pub fn weight(self) -> f32 {
        f32::from(self.0) / STEPS_PER_NAT
    }

    /// Stores a log-probability, which is at most 0, by its negative.
    #[doc(hidden)]
    pub fn from_log_probability(x: f32) -> Self {
        Self::from_weight(-x)
    }

    /// The log-probability stored by [`Self::from_log_probability`]; 0 reads as `-0.0`.
    #[doc(hidden)]
    pub fn log_probability(self) -> f32 {
        -self.weight()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_of_the_grid() {
        for (w, stored) in [
            (0.0, 0),
            (0.031, 0),
            (0.03125, 1),
            (5.5333894, 177),
            (2047.99, 65535),
            (2048.0, 0),
            (2048.1, 65535),
            (f32::INFINITY, 65535),
            (f32::NAN, 0),
            (-0.1, 0),
        ] {
            assert_eq!(QuantWeight::from_weight(w).0, stored, "{w}");
        }
        assert_eq!(QuantWeight(0).log_probability().to_bits(), (-0.0f32).to_bits());
    }

    #[test]
    fn storing_what_was_stored_changes_nothing() {
        for stored in 0..=u16::MAX {
            let weight = QuantWeight(stored).weight();
            assert_eq!(QuantWeight::from_weight(weight).0, stored);
        }
    }
}
