//! Sums in values: `size=8*1024*4096`, `bs=(4 * 2)k`, `runtime=(60 + 30)`.
//!
//! Operators by rising strength: `+ -`, `* / %`, unary minus, `^` (to the
//! right); parentheses; numbers may carry a unit, whose worth the caller says.

/// Depth of parentheses and of signs; more is no honest sum.
const MAX_DEPTH: usize = 32;

/// The value of a sum. `unit` gives the worth of a suffix, for example 1024
/// for `k`.
///
/// # Errors
/// What is wrong, and the character (from 0) at which it is.
pub(crate) fn evaluate(
    text: &str,
    unit: &dyn Fn(&str) -> Option<f64>,
) -> Result<f64, (usize, String)> {
    let characters: Vec<char> = text.chars().collect();
    let mut sum = Sum {
        text: &characters,
        at: 0,
        unit,
    };
    let value = sum.added(0)?;
    sum.skip();
    match sum.peek() {
        None if value.is_finite() => Ok(value),
        None => Err((0, "the sum is too large".to_owned())),
        Some(other) => Err((sum.at, format!("'{other}' is not expected here"))),
    }
}

struct Sum<'a> {
    text: &'a [char],
    at: usize,
    unit: &'a dyn Fn(&str) -> Option<f64>,
}

type Evaluated = Result<f64, (usize, String)>;

impl Sum<'_> {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn skip(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    fn take(&mut self, wanted: &[char]) -> Option<char> {
        self.skip();
        let found = self.peek().filter(|c| wanted.contains(c))?;
        self.at += 1;
        Some(found)
    }

    fn added(&mut self, depth: usize) -> Evaluated {
        let mut value = self.multiplied(depth)?;
        while let Some(operator) = self.take(&['+', '-']) {
            let other = self.multiplied(depth)?;
            value = if operator == '+' {
                value + other
            } else {
                value - other
            };
        }
        Ok(value)
    }

    fn multiplied(&mut self, depth: usize) -> Evaluated {
        let mut value = self.powered(depth)?;
        while let Some(operator) = self.take(&['*', '/', '%']) {
            let at = self.at;
            let other = self.powered(depth)?;
            if operator != '*' && other == 0.0 {
                return Err((at, "division by zero".to_owned()));
            }
            value = match operator {
                '*' => value * other,
                '/' => value / other,
                _ => value % other,
            };
        }
        Ok(value)
    }

    fn powered(&mut self, depth: usize) -> Evaluated {
        if depth > MAX_DEPTH {
            return Err((self.at, "the sum is nested too deeply".to_owned()));
        }
        if self.take(&['-']).is_some() {
            return Ok(-self.powered(depth + 1)?);
        }
        let base = self.atom(depth)?;
        match self.take(&['^']) {
            Some(_) => Ok(base.powf(self.powered(depth + 1)?)),
            None => Ok(base),
        }
    }

    fn atom(&mut self, depth: usize) -> Evaluated {
        let value = if self.take(&['(']).is_some() {
            let value = self.added(depth + 1)?;
            if self.take(&[')']).is_none() {
                return Err((self.at, "a ')' is missing".to_owned()));
            }
            value
        } else {
            self.number()?
        };
        Ok(value * self.suffix()?)
    }

    fn number(&mut self) -> Evaluated {
        self.skip();
        let from = self.at;
        let hex = self.text[from..].starts_with(&['0', 'x'])
            || self.text[from..].starts_with(&['0', 'X']);
        if hex {
            self.at += 2;
        }
        let digits = |c: char| {
            if hex {
                c.is_ascii_hexdigit()
            } else {
                c.is_ascii_digit() || c == '.'
            }
        };
        let first = self.at;
        while self.peek().is_some_and(digits) {
            self.at += 1;
        }
        let text: String = self.text[first..self.at].iter().collect();
        let value = match hex {
            true => u64::from_str_radix(&text, 16).ok().map(|n| n as f64),
            false => text.parse().ok(),
        };
        value.ok_or_else(|| (from, "a number is missing".to_owned()))
    }

    fn suffix(&mut self) -> Evaluated {
        let from = self.at;
        while self.peek().is_some_and(char::is_alphabetic) {
            self.at += 1;
        }
        if from == self.at {
            return Ok(1.0);
        }
        let text: String = self.text[from..self.at].iter().collect();
        (self.unit)(&text).ok_or_else(|| (from, format!("'{text}' is not a unit")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<f64, (usize, String)> {
        evaluate(text, &|unit| (unit == "k").then_some(1024.0))
    }

    #[test]
    fn sums_have_their_usual_meaning() {
        for (text, wanted) in [
            ("1+2*3", 7.0),
            ("(1 + 2) * 3k", 9216.0),
            ("2^3^2", 512.0),
            ("-2^2", -4.0),
            ("7*1024*1024*8/8", 7_340_032.0),
            ("0x10 % 5", 1.0),
            ("(4)k", 4096.0),
            ("1.5*2", 3.0),
        ] {
            assert_eq!(value(text), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        for (text, at) in [
            ("1+", 2),
            ("(1", 2),
            ("4/0", 2),
            ("3q", 1),
            ("", 0),
            ("1 2", 2),
        ] {
            assert_eq!(value(text).unwrap_err().0, at, "{text}");
        }
        assert!(value(&"(".repeat(10_000)).is_err());
        assert!(value(&"-".repeat(10_000)).is_err());
        assert!(value("9^999^999").is_err());
    }
}
