//! How a ratio is printed: as a change in percent, or as a factor.

use super::digits;
use crate::Estimate;

/// How a ratio and its interval are printed.
#[derive(Debug, Clone, Copy)]
enum Form {
    /// As a change in percent with so many decimals.
    Percent(i32),
    /// As a factor: three times as much and more.
    Factor,
    /// As what it was divided by: a third and less.
    Divisor,
}

fn form(ratio: &Estimate) -> Form {
    let half = ratio.low.zip(ratio.high).map(|(low, high)| high - low);
    match (ratio.value, half) {
        (Some(value), _) if value >= FACTOR => Form::Factor,
        // `-98.35 %` beside a rate of `×62` would not be seen to be as much.
        (Some(value), _) if is_divided(value) && ratio.low.is_none_or(|low| low > 0.0) => {
            Form::Divisor
        }
        (_, Some(width)) if width < 0.001 => Form::Percent(2),
        (_, Some(width)) if width > 0.2 => Form::Percent(0),
        _ => Form::Percent(1),
    }
}

/// From which factor on, in either direction, percent are hard to compare.
const FACTOR: f64 = 3.0;

/// Whether a ratio is a third or less, and not nothing at all.
fn is_divided(ratio: f64) -> bool {
    ratio > 0.0 && ratio * FACTOR <= 1.0
}

fn printed(ratio: f64, form: Form) -> String {
    match form {
        Form::Factor => format!("×{}", digits(ratio)),
        Form::Divisor => format!("÷{}", digits(1.0 / ratio)),
        Form::Percent(decimals) => {
            let step = 10f64.powi(decimals);
            // Adding zero takes the sign from a zero.
            let rounded = ((ratio - 1.0) * 100.0 * step).round() / step + 0.0;
            format!("{rounded:+.*}", decimals as usize)
        }
    }
}

/// `-4.8 %`, `×4.81`, `÷62.0` or `n/a`.
pub fn change_text(ratio: &Estimate) -> String {
    let Some(value) = ratio.value else {
        return "n/a".to_owned();
    };
    with_unit(printed(value, form(ratio)), form(ratio))
}

/// `-5.2 to -4.4 %`, or nothing.
pub fn interval_text(ratio: &Estimate) -> String {
    let Some((low, high)) = ratio.low.zip(ratio.high) else {
        return String::new();
    };
    let form = form(ratio);
    with_unit(
        format!("{} to {}", printed(low, form), printed(high, form)),
        form,
    )
}

/// A factor has no percent.
fn with_unit(text: String, form: Form) -> String {
    match form {
        Form::Factor | Form::Divisor => text,
        Form::Percent(_) => format!("{text} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unit;

    fn ratio(value: f64, low: f64, high: f64) -> Estimate {
        Estimate::known(Unit::Ratio, value, low, high, 6.0)
    }

    #[test]
    fn changes_are_percent_with_the_digits_that_their_interval_carries() {
        let small = ratio(0.9521, 0.9484, 0.9558);
        assert_eq!(change_text(&small), "-4.8 %");
        assert_eq!(interval_text(&small), "-5.2 to -4.4 %");
        assert_eq!(change_text(&ratio(0.99999, 0.95, 1.05)), "+0.0 %");
        assert_eq!(change_text(&ratio(1.00012, 1.0001, 1.0002)), "+0.01 %");
        let large = ratio(12.34, 11.0, 13.0);
        assert_eq!(change_text(&large), "×12.3");
        assert_eq!(interval_text(&large), "×11.0 to ×13.0");
        let small = ratio(0.01613, 0.0125, 0.02);
        assert_eq!(change_text(&small), "÷62.0");
        assert_eq!(interval_text(&small), "÷80.0 to ÷50.0");
        assert_eq!(change_text(&ratio(0.0, 0.0, 0.0)), "-100.00 %");
        assert_eq!(change_text(&Estimate::unknown(Unit::Ratio, "none")), "n/a");
    }
}
