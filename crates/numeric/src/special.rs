// SPDX-License-Identifier: GPL-3.0-or-later
//! Incomplete gamma functions and the normal distribution, by the algorithms of the Cephes
//! mathematical library, release 2.8 (S. Moshier), in f64, operation by operation (spec model 13).
//!
//! Printed confidences are results of these functions cut to integers, so that a more exact
//! algorithm would print other digits. Nothing here may be re-ordered, fused or replaced.

// Constants stand as they are quoted everywhere; the compiler rounds them.
#![allow(clippy::excessive_precision)]
// A not-a-number must end a series, for which `!(x > limit)` and `x <= limit` differ.
#![allow(clippy::neg_cmp_op_on_partial_ord)]

use super::elementary::{exp, log};

/// Half a unit in the last place of 1: 2^-53.
const MACHEP: f64 = 1.11022302462515654042e-16;
/// Logarithm of the largest number.
const MAXLOG: f64 = 7.09782712893383996732e2;
/// Continued fractions are rescaled when a convergent's parts exceed this, 2^52,
const BIG: f64 = 4.503599627370496e15;
/// by this factor, 2^-52.
const BIG_INVERSE: f64 = 2.22044604925031308085e-16;
/// Series end here even if they have not converged: about sqrt(a) terms are needed, so only a
/// damaged or hostile model file comes this far, and it must not hold up the run.
const MAX_TERMS: u32 = 1 << 24;

const A: [f64; 5] = [
    8.11614167470508450300E-4,
    -5.95061904284301438324E-4,
    7.93650340457716943945E-4,
    -2.77777777730099687205E-3,
    8.33333333333331927722E-2,
];
const B: [f64; 6] = [
    -1.37825152569120859100E3,
    -3.88016315134637840924E4,
    -3.31612992738871184744E5,
    -1.16237097492762307383E6,
    -1.72173700820839662146E6,
    -8.53555664245765465627E5,
];
const C: [f64; 6] = [
    -3.51815701436523470549E2,
    -1.70642106651881159223E4,
    -2.20528590553854454839E5,
    -1.13933444367982507207E6,
    -2.53252307177582951285E6,
    -2.01889141433532773231E6,
];
const P: [f64; 9] = [
    2.46196981473530512524E-10,
    5.64189564831068821977E-1,
    7.46321056442269912687E0,
    4.86371970985681366614E1,
    1.96520832956077098242E2,
    5.26445194995477358631E2,
    9.34528527171957607540E2,
    1.02755188689515710272E3,
    5.57535335369399327526E2,
];
const Q: [f64; 8] = [
    1.32281951154744992508E1,
    8.67072140885989742329E1,
    3.54937778887819891062E2,
    9.75708501743205489753E2,
    1.82390916687909736289E3,
    2.24633760818710981792E3,
    1.65666309194161350182E3,
    5.57535340817727675546E2,
];
const R: [f64; 6] = [
    5.64189583547755073984E-1,
    1.27536670759978104416E0,
    5.01905042251180477414E0,
    6.16021097993053585195E0,
    7.40974269950448939160E0,
    2.97886665372100240670E0,
];
const S: [f64; 6] = [
    2.26052863220117276590E0,
    9.39603524938001434673E0,
    1.20489539808096656605E1,
    1.70814450747565897222E1,
    9.60896809063285878198E0,
    3.36907645100081516050E0,
];
const T: [f64; 5] = [
    9.60497373987051638749E0,
    9.00260197203842689217E1,
    2.23200534594684319226E3,
    7.00332514112805075473E3,
    5.55923013010394962768E4,
];
const U: [f64; 5] = [
    3.35617141647503099647E1,
    5.21357949780152679795E2,
    4.59432382970980127987E3,
    2.26290000613890934246E4,
    4.92673942608635921086E4,
];

/// Half the logarithm of 2π.
const LOG_SQRT_2PI: f64 = 0.91893853320467274178;
/// The square root of one half.
const SQRT_HALF: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// An incomplete gamma integral, and whether its leading factor was too small for a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GammaIntegral {
    /// The integral; computed with a factor of 0 after an underflow.
    pub value: f64,
    /// What dbacl 1.14.1 prints on standard output about an underflow, newlines included.
    pub underflow: Option<&'static str>,
}

/// The note of an underflow in the power series of the lower integral.
const IGAM: &str = "\nigam underflow error\n";
/// The note of an underflow in the continued fraction of the upper integral.
const IGAMC: &str = "\nigamc underflow error\n";

impl GammaIntegral {
    const fn exact(value: f64) -> Self {
        Self { value, underflow: None }
    }

    fn complement(self) -> Self {
        Self { value: 1.0 - self.value, ..self }
    }
}

/// Upper regularised incomplete gamma function Q(a, x): the mass above x of a gamma distribution of
/// shape a and scale 1. It is 1 if either argument is 0 or less.
pub fn igamc(a: f64, x: f64) -> GammaIntegral {
    if x <= 0.0 || a <= 0.0 {
        return GammaIntegral::exact(1.0);
    }
    if x < 1.0 || x < a {
        return igam_series(a, x).complement();
    }
    igamc_fraction(a, x)
}

/// `x^a e^-x / Gamma(a)`, or `None` if that is below the smallest number.
fn leading_factor(a: f64, x: f64) -> Option<f64> {
    let log_factor = a * log(x) - x - lgam(a);
    (log_factor >= -MAXLOG || log_factor.is_nan()).then(|| exp(log_factor))
}

fn igam_series(a: f64, x: f64) -> GammaIntegral {
    let Some(factor) = leading_factor(a, x) else {
        return GammaIntegral { value: 0.0, underflow: Some(IGAM) };
    };
    let mut r = a;
    let mut c = 1.0;
    let mut sum = 1.0;
    for _ in 0..MAX_TERMS {
        r += 1.0;
        c *= x / r;
        sum += c;
        if !(c / sum > MACHEP) {
            break;
        }
    }
    GammaIntegral::exact(sum * factor / a)
}

fn igamc_fraction(a: f64, x: f64) -> GammaIntegral {
    let Some(factor) = leading_factor(a, x) else {
        return GammaIntegral { value: 0.0, underflow: Some(IGAMC) };
    };
    let mut y = 1.0 - a;
    let mut z = x + y + 1.0;
    let mut c = 0.0;
    let mut pkm2 = 1.0;
    let mut qkm2 = x;
    let mut pkm1 = x + 1.0;
    let mut qkm1 = z * x;
    let mut answer = pkm1 / qkm1;
    for _ in 0..MAX_TERMS {
        c += 1.0;
        y += 1.0;
        z += 2.0;
        let yc = y * c;
        let pk = pkm1 * z - pkm2 * yc;
        let qk = qkm1 * z - qkm2 * yc;
        let change;
        if qk == 0.0 {
            change = 1.0;
        } else {
            let r = pk / qk;
            change = ((answer - r) / r).abs();
            answer = r;
        }
        pkm2 = pkm1;
        pkm1 = pk;
        qkm2 = qkm1;
        qkm1 = qk;
        if pk.abs() > BIG {
            pkm2 *= BIG_INVERSE;
            pkm1 *= BIG_INVERSE;
            qkm2 *= BIG_INVERSE;
            qkm1 *= BIG_INVERSE;
        }
        if !(change > MACHEP) {
            break;
        }
    }
    GammaIntegral::exact(answer * factor)
}

/// Logarithm of the gamma function, for x > 0.
pub fn lgam(mut x: f64) -> f64 {
    if x < 13.0 {
        let mut z = 1.0;
        let mut p = 0.0;
        let mut u = x;
        while u >= 3.0 {
            p -= 1.0;
            u = x + p;
            z *= u;
        }
        while u < 2.0 {
            z /= u;
            p += 1.0;
            u = x + p;
        }
        if u == 2.0 {
            return log(z);
        }
        p -= 2.0;
        x += p;
        return log(z) + x * polynomial(x, &B) / monic_polynomial(x, &C);
    }
    let q = (x - 0.5) * log(x) - x + LOG_SQRT_2PI;
    if x > 1e8 {
        return q;
    }
    let p = 1.0 / (x * x);
    if x >= 1000.0 {
        return q
            + ((7.9365079365079365079365e-4 * p - 2.7777777777777777777778e-3) * p
                + 0.0833333333333333333333)
                / x;
    }
    q + polynomial(p, &A) / x
}

/// Normal distribution function: the mass below a of the standard normal distribution.
pub fn ndtr(a: f64) -> f64 {
    let x = a * SQRT_HALF;
    let z = x.abs();
    if z < SQRT_HALF {
        return 0.5 + 0.5 * erf(x);
    }
    let y = 0.5 * erfc(z);
    if x > 0.0 { 1.0 - y } else { y }
}

/// Error function.
pub fn erf(x: f64) -> f64 {
    if x.abs() > 1.0 {
        return 1.0 - erfc(x);
    }
    let z = x * x;
    x * polynomial(z, &T) / monic_polynomial(z, &U)
}

/// Complementary error function, 1 - erf(a).
pub fn erfc(a: f64) -> f64 {
    let x = a.abs();
    if x < 1.0 {
        return 1.0 - erf(a);
    }
    let tail = if a < 0.0 { 2.0 } else { 0.0 };
    let z = -a * a;
    if z < -MAXLOG {
        return tail;
    }
    let z = exp(z);
    let y = if x < 8.0 {
        z * polynomial(x, &P) / monic_polynomial(x, &Q)
    } else {
        z * polynomial(x, &R) / monic_polynomial(x, &S)
    };
    let y = if a < 0.0 { 2.0 - y } else { y };
    if y == 0.0 { tail } else { y }
}

/// Horner's rule from the coefficient of the highest power on.
fn polynomial(x: f64, coefficients: &[f64]) -> f64 {
    coefficients[1..].iter().fold(coefficients[0], |sum, &c| sum * x + c)
}

/// Horner's rule with a leading coefficient of 1 that is not in the list.
fn monic_polynomial(x: f64, coefficients: &[f64]) -> f64 {
    coefficients[1..].iter().fold(x + coefficients[0], |sum, &c| sum * x + c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evaluate(function: &str, a: f64, x: f64) -> f64 {
        match function {
            "igamc" => igamc(a, x).value,
            "lgam" => lgam(a),
            "ndtr" => ndtr(a),
            "erf" => erf(a),
            "erfc" => erfc(a),
            other => panic!("function {other}"),
        }
    }

    /// Rows of `testdata/special.tsv`: function, arguments, true value, recorded result.
    fn rows() -> impl Iterator<Item = (&'static str, [f64; 4])> {
        let table = include_str!("../testdata/special.tsv");
        table.lines().filter(|row| !row.starts_with('#')).map(|row| {
            let mut fields = row.split('\t');
            let function = fields.next().unwrap_or_default();
            let mut numbers = [0.0; 4];
            for number in &mut numbers {
                let bits = u64::from_str_radix(fields.next().unwrap_or("0"), 16).expect("bits");
                *number = f64::from_bits(bits);
            }
            (function, numbers)
        })
    }

    #[test]
    fn values_are_near_the_true_ones() {
        for (function, [a, x, truth, _]) in rows() {
            let value = evaluate(function, a, x);
            // The factor's exponent is a difference of terms of size a log(x); its rounding error
            // is the relative error of the value. Likewise a² in erfc and ndtr.
            let tolerance = match function {
                "igamc" => 1e-14 + 6e-16 * (a * x.ln()).abs().max(x),
                "erfc" | "ndtr" => 1e-14 + 3e-16 * a * a,
                _ => 1e-14,
            };
            // near its zeros at 1 and 2, and as a complement, a value has only an absolute
            // precision
            let scale = if function == "igamc" && x < a.max(1.0) || function == "lgam" {
                1.0_f64.max(truth.abs())
            } else {
                truth.abs()
            };
            assert!(
                (value - truth).abs() <= tolerance * scale,
                "{function}({a}, {x}) = {value}, truly {truth}"
            );
        }
    }

    #[test]
    fn bits_do_not_change() {
        let mut rows_seen = 0;
        for (function, [a, x, _, recorded]) in rows() {
            let value = evaluate(function, a, x);
            assert_eq!(value.to_bits(), recorded.to_bits(), "{function}({a}, {x}) = {value}");
            rows_seen += 1;
        }
        assert!(rows_seen > 350, "{rows_seen} rows");
    }

    #[test]
    fn underflow_names_the_function_in_which_it_happened() {
        for (a, x, value, underflow) in [
            (10.0, 2000.0, 0.0, Some(IGAMC)),
            (2000.0, 10.0, 1.0, Some(IGAM)),
            (2.0, 1.0, 0.7357588823428847, None),
            (0.0, 1.0, 1.0, None),
            (1.0, 0.0, 1.0, None),
            (-1.0, 1.0, 1.0, None),
        ] {
            let found = igamc(a, x);
            assert_eq!(found.underflow, underflow, "igamc({a}, {x})");
            assert!((found.value - value).abs() < 1e-15, "igamc({a}, {x}) = {}", found.value);
        }
    }

    #[test]
    fn hostile_arguments_come_to_an_end() {
        for a in [1e300, 1e16, f64::INFINITY, f64::NAN, 1e-300] {
            for x in [1e300, 1e16, f64::INFINITY, f64::NAN, 1e-300] {
                let value = igamc(a, x).value;
                assert!(value.is_nan() || (-1e-3..=1.001).contains(&value) || a >= 1e16, "{a} {x}");
            }
        }
    }
}
