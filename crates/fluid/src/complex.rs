//! Complex numbers, and the eigenvalues of small complex matrices.

use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

/// `re + j im`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Complex {
    /// The real part.
    pub re: f64,
    /// The imaginary part.
    pub im: f64,
}

impl Complex {
    /// 1.
    pub const ONE: Self = Self::new(1.0, 0.0);

    /// From its parts.
    pub const fn new(re: f64, im: f64) -> Self {
        Self { re, im }
    }

    /// From its size and angle.
    pub fn polar(size: f64, angle: f64) -> Self {
        Self::new(size * libm::cos(angle), size * libm::sin(angle))
    }

    /// Its size.
    pub fn abs(self) -> f64 {
        libm::hypot(self.re, self.im)
    }

    /// Its angle, in `(-pi, pi]`.
    pub fn angle(self) -> f64 {
        libm::atan2(self.im, self.re)
    }

    /// Its conjugate.
    pub const fn conjugate(self) -> Self {
        Self::new(self.re, -self.im)
    }

    /// The root whose real part is not negative.
    pub fn sqrt(self) -> Self {
        Self::polar(self.abs().sqrt(), self.angle() / 2.0)
    }
}

impl Add for Complex {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::new(self.re + other.re, self.im + other.im)
    }
}

impl AddAssign for Complex {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Complex {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self::new(self.re - other.re, self.im - other.im)
    }
}

impl Mul for Complex {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self::new(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)
    }
}

impl Mul<f64> for Complex {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        Self::new(self.re * factor, self.im * factor)
    }
}

impl Div for Complex {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        self * other.conjugate() * (1.0 / (other.re * other.re + other.im * other.im))
    }
}

impl Neg for Complex {
    type Output = Self;
    fn neg(self) -> Self {
        Self::new(-self.re, -self.im)
    }
}

/// A square matrix, by rows.
pub type Matrix = Vec<Vec<Complex>>;

/// The most turns of the QR iteration for one eigenvalue; it needs two or three.
const MOST_TURNS: usize = 300;

/// The eigenvalues of a matrix, in no order: reduction to Hessenberg's form, then the QR iteration with
/// Wilkinson's shifts (Golub and Van Loan, "Matrix Computations", 7.4 and 7.5).
pub fn eigenvalues(mut matrix: Matrix) -> Vec<Complex> {
    reduce(&mut matrix);
    let mut found = Vec::with_capacity(matrix.len());
    let (mut end, mut turns) = (matrix.len(), 0);
    while end > 0 {
        let negligible = |k: &usize| {
            let beside = matrix[k - 1][k - 1].abs() + matrix[*k][*k].abs();
            matrix[*k][k - 1].abs() <= f64::EPSILON * beside
        };
        let first = (1..end).rev().find(negligible).unwrap_or(0);
        if first == end - 1 || turns == MOST_TURNS {
            found.push(matrix[end - 1][end - 1]);
            (end, turns) = (end - 1, 0);
            continue;
        }
        turns += 1;
        let shift = if turns % 10 == 0 {
            // Out of a cycle.
            matrix[end - 1][end - 1] + Complex::new(matrix[end - 1][end - 2].abs(), 0.0)
        } else {
            shift(&matrix, end)
        };
        turn(&mut matrix, first..end, shift);
    }
    found
}

/// Hessenberg's form, by elimination with pivots.
fn reduce(matrix: &mut Matrix) {
    let size = matrix.len();
    for column in 0..size.saturating_sub(2) {
        let below = column + 1;
        let of = |row: &usize| matrix[*row][column].abs();
        let pivot = (below..size).max_by(|a, b| of(a).total_cmp(&of(b))).unwrap_or(below);
        if matrix[pivot][column] == Complex::default() {
            continue;
        }
        matrix.swap(pivot, below);
        for row in matrix.iter_mut() {
            row.swap(pivot, below);
        }
        for row in below + 1..size {
            let factor = matrix[row][column] / matrix[below][column];
            let (above, rest) = matrix.split_at_mut(row);
            for (value, pivot) in rest[0].iter_mut().zip(&above[below]).skip(column) {
                *value = *value - factor * *pivot;
            }
            for line in matrix.iter_mut() {
                let taken = factor * line[row];
                line[below] += taken;
            }
        }
    }
}

/// The eigenvalue of the last two rows' block that is nearer to its last number.
fn shift(matrix: &Matrix, end: usize) -> Complex {
    let (a, b) = (matrix[end - 2][end - 2], matrix[end - 2][end - 1]);
    let (c, d) = (matrix[end - 1][end - 2], matrix[end - 1][end - 1]);
    let half = (a - d) * 0.5;
    let root = (half * half + b * c).sqrt();
    let (plus, minus) = (half + root, half - root);
    d + if plus.abs() < minus.abs() { plus } else { minus }
}

/// One QR step of a block, by Givens rotations.
fn turn(matrix: &mut Matrix, block: std::ops::Range<usize>, shift: Complex) {
    for k in block.clone() {
        matrix[k][k] = matrix[k][k] - shift;
    }
    let mut rotations = Vec::with_capacity(block.len());
    for k in block.start..block.end - 1 {
        let (x, y) = (matrix[k][k], matrix[k + 1][k]);
        let length = libm::hypot(x.abs(), y.abs());
        let (c, s) = if length > 0.0 {
            (x * (1.0 / length), y * (1.0 / length))
        } else {
            (Complex::ONE, Complex::default())
        };
        let (above, below) = matrix.split_at_mut(k + 1);
        for (up, low) in above[k].iter_mut().zip(&mut below[0]).take(block.end).skip(k) {
            let (upper, lower) = (*up, *low);
            *up = c.conjugate() * upper + s.conjugate() * lower;
            *low = c * lower - s * upper;
        }
        rotations.push((k, c, s));
    }
    for (k, c, s) in rotations {
        for row in &mut matrix[block.start..block.end.min(k + 2)] {
            let (left, right) = (row[k], row[k + 1]);
            row[k] = left * c + right * s;
            row[k + 1] = right * c.conjugate() - left * s.conjugate();
        }
    }
    for k in block {
        matrix[k][k] += shift;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(matrix: Matrix) -> Vec<Complex> {
        let mut found = eigenvalues(matrix);
        found.sort_by(|a, b| a.re.total_cmp(&b.re).then(a.im.total_cmp(&b.im)));
        found
    }

    fn near(a: Complex, b: Complex) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn a_rotation_and_a_triangle() {
        let one = Complex::ONE;
        let zero = Complex::default();
        let found = sorted(vec![vec![zero, -one], vec![one, zero]]);
        assert!(near(found[0], Complex::new(0.0, -1.0)) && near(found[1], Complex::new(0.0, 1.0)));
        let triangle =
            vec![vec![one, one, one], vec![zero, one * 2.0, one], vec![zero, zero, one * 3.0]];
        for (value, whole) in sorted(triangle).into_iter().zip([1.0, 2.0, 3.0]) {
            assert!(near(value, Complex::new(whole, 0.0)), "{value:?}");
        }
    }

    /// A companion matrix has the roots of its polynomial: those of z^n = 1.
    #[test]
    fn roots_of_unity() {
        for size in [1, 2, 3, 5, 8] {
            let mut matrix = vec![vec![Complex::default(); size]; size];
            for k in 1..size {
                matrix[k][k - 1] = Complex::ONE;
            }
            matrix[0][size - 1] = Complex::ONE;
            for value in eigenvalues(matrix) {
                let turns = value.angle() / std::f64::consts::TAU * size as f64;
                assert!((value.abs() - 1.0).abs() < 1e-9, "{size} {value:?}");
                assert!((turns - turns.round()).abs() < 1e-9, "{size} {value:?}");
            }
        }
    }

    #[test]
    fn sums_are_the_trace_and_squares_that_of_the_square() {
        // Numbers without order: multiples of the golden ratio, less their whole part.
        let mut turns = 0.0;
        let mut number = || {
            turns += 0.618_033_988_749_895;
            Complex::polar(turns - f64::floor(turns), 40.0 * turns)
        };
        for size in 1..9 {
            let matrix: Matrix = (0..size).map(|_| (0..size).map(|_| number()).collect()).collect();
            let zero = Complex::default();
            let trace = (0..size).fold(zero, |sum, k| sum + matrix[k][k]);
            let of_square = (0..size * size)
                .fold(zero, |sum, k| sum + matrix[k / size][k % size] * matrix[k % size][k / size]);
            let found = eigenvalues(matrix);
            assert!(near(found.iter().fold(zero, |sum, &each| sum + each), trace), "{size}");
            assert!(near(found.iter().fold(zero, |sum, &each| sum + each * each), of_square));
        }
    }
}
