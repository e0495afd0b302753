//! The straight line of least squares.

/// A line through points (x, y).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// Number of points.
    pub count: f64,
    /// Mean of the x.
    pub mean_x: f64,
    /// Mean of the y: the line goes through both means.
    pub mean_y: f64,
    /// Change of y per unit of x.
    pub slope: f64,
    /// Sum of the squared distances of the x to their mean, above 0.
    pub squares_x: f64,
    /// Sum of the squared distances of the y to the line.
    pub squares_left: f64,
}

impl Line {
    /// The line through these points; `None` of fewer than two different x.
    pub fn through(points: impl Iterator<Item = (f64, f64)> + Clone) -> Option<Line> {
        let count = points.clone().count() as f64;
        let mean_x = points.clone().map(|(x, _)| x).sum::<f64>() / count;
        let mean_y = points.clone().map(|(_, y)| y).sum::<f64>() / count;
        let squares_x: f64 = points.clone().map(|(x, _)| (x - mean_x).powi(2)).sum();
        let products: f64 = points
            .clone()
            .map(|(x, y)| (x - mean_x) * (y - mean_y))
            .sum();
        if squares_x <= 0.0 || squares_x.is_nan() {
            return None;
        }
        let mut line = Line {
            count,
            mean_x,
            mean_y,
            slope: products / squares_x,
            squares_x,
            squares_left: 0.0,
        };
        // From the residuals, not as Σy² − slope·Σxy: that difference of large numbers
        // can come out below zero.
        line.squares_left = points.map(|(x, y)| line.residual(x, y).powi(2)).sum();
        Some(line)
    }

    /// The line through values at 0, 1, 2, …; `None` of fewer than two.
    pub fn over_index(values: &[f64]) -> Option<Line> {
        Line::through(values.iter().enumerate().map(|(i, v)| (i as f64, *v)))
    }

    /// y of the line at 0.
    pub fn intercept(&self) -> f64 {
        self.mean_y - self.slope * self.mean_x
    }

    /// How far above the line a point is.
    pub fn residual(&self, x: f64, y: f64) -> f64 {
        y - self.mean_y - self.slope * (x - self.mean_x)
    }

    /// Standard error of the slope of independent points, with n − 2 degrees of
    /// freedom; `None` of two points, which have a line through them whatever they
    /// are.
    pub fn slope_error(&self) -> Option<f64> {
        let degrees = self.count - 2.0;
        (degrees > 0.0).then(|| (self.squares_left / degrees / self.squares_x).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_line_is_reproduced() {
        // Anscombe's first set: y = 3.00 + 0.500 x, error of the slope 0.1179.
        let x = [10.0, 8.0, 13.0, 9.0, 11.0, 14.0, 6.0, 4.0, 12.0, 7.0, 5.0];
        let y = [
            8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68,
        ];
        let line = Line::through(x.iter().copied().zip(y)).unwrap();
        assert!((line.slope - 0.50009).abs() < 1e-5, "{line:?}");
        assert!((line.intercept() - 3.00009).abs() < 1e-5, "{line:?}");
        assert!((line.slope_error().unwrap() - 0.11791).abs() < 1e-5);
        assert!((line.residual(10.0, 8.04) - 0.03900).abs() < 1e-4);
    }

    #[test]
    fn what_has_no_line_has_none() {
        assert_eq!(Line::over_index(&[]), None);
        assert_eq!(Line::over_index(&[1.0]), None);
        assert_eq!(Line::through([(2.0, 1.0), (2.0, 5.0)].into_iter()), None);
        let two = Line::over_index(&[1.0, 3.0]).unwrap();
        assert_eq!(
            (two.slope, two.intercept(), two.slope_error()),
            (2.0, 1.0, None)
        );
    }
}
