//! Parameters of laws: typed, with unit, default, range and help, declared once by [`params!`].

use crate::quantities::{BitRate, Bytes, Span};
use std::borrow::Cow;
use std::fmt;

/// Text of a declaration: a literal for shipped laws, a string for others.
pub type Text = Cow<'static, str>;

/// What sort of value a parameter takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A dimensionless number.
    Number,
    /// A whole number.
    Integer,
    /// `true` or `false`.
    Flag,
    /// A length of time.
    Duration,
    /// A rate.
    Rate,
    /// An amount of data.
    Size,
    /// One of these words, declared by [`choices!`](crate::choices).
    Choice(Vec<Text>),
}

/// A parameter's value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A dimensionless number.
    Number(f64),
    /// A whole number.
    Integer(u64),
    /// `true` or `false`.
    Flag(bool),
    /// A length of time.
    Duration(Span),
    /// A rate.
    Rate(BitRate),
    /// An amount of data.
    Size(Bytes),
    /// A word.
    Choice(Text),
}

impl Value {
    /// A word.
    pub const fn word(word: &'static str) -> Self {
        Self::Choice(Text::Borrowed(word))
    }

    /// The value in the base unit of ranges (1, s, bit/s, bytes); 0 for a word.
    pub fn base(&self) -> f64 {
        match *self {
            Self::Number(x) => x,
            Self::Integer(n) => n as f64,
            Self::Flag(b) => f64::from(u8::from(b)),
            Self::Duration(t) => t.seconds(),
            Self::Rate(r) => r.bps(),
            Self::Size(b) => b.count() as f64,
            Self::Choice(_) => 0.0,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(x) => write!(f, "{x}"),
            Self::Integer(n) => write!(f, "{n}"),
            Self::Flag(b) => write!(f, "{b}"),
            Self::Duration(t) => write!(f, "{t}"),
            Self::Rate(r) => write!(f, "{r}"),
            Self::Size(b) => write!(f, "{b}"),
            Self::Choice(word) => f.write_str(word),
        }
    }
}

/// A Rust type that a parameter may have.
pub trait ParamType: Copy {
    /// Which kind of value it takes.
    fn kind() -> Kind;
    /// From a value; `None` if it is of another kind.
    fn from_value(value: &Value) -> Option<Self>;
    /// To a value.
    fn to_value(self) -> Value;
}

macro_rules! param_type {
    ($($type:ty => $kind:ident),* $(,)?) => {$(
        impl ParamType for $type {
            fn kind() -> Kind {
                Kind::$kind
            }
            fn from_value(value: &Value) -> Option<Self> {
                match value { Value::$kind(x) => Some(*x), _ => None }
            }
            fn to_value(self) -> Value { Value::$kind(self) }
        }
    )*};
}
param_type! { f64 => Number, u64 => Integer, bool => Flag, Span => Duration, BitRate => Rate, Bytes => Size }

/// One parameter as the registry shows it.
#[derive(Clone, Debug)]
pub struct ParamInfo {
    /// Its name in a scenario.
    pub name: Text,
    /// The kind of its values.
    pub kind: Kind,
    /// Its value unless a scenario sets it.
    pub default: Value,
    /// Smallest allowed value in the base unit (1, s, bit/s, bytes).
    pub min: f64,
    /// Largest allowed value in the base unit.
    pub max: f64,
    /// What it means, and the paper's symbol.
    pub help: Text,
    /// Must it keep its value while the law runs?
    pub fixed: bool,
}

impl ParamInfo {
    /// The allowed range in words, with units.
    pub fn range(&self) -> String {
        let show = |x: f64| match &self.kind {
            Kind::Duration => Span::from_seconds(x).to_string(),
            Kind::Rate => BitRate::from_bps(x).to_string(),
            Kind::Size => Bytes(x as u64).to_string(),
            Kind::Integer | Kind::Number | Kind::Flag | Kind::Choice(_) => format!("{x}"),
        };
        match &self.kind {
            Kind::Flag => "true or false".to_owned(),
            Kind::Choice(words) => match words.as_slice() {
                [first @ .., last] if !first.is_empty() => {
                    format!("{} or {last}", first.join(", "))
                }
                words => words.concat(),
            },
            _ => format!("{} to {}", show(self.min), show(self.max)),
        }
    }

    /// Is `value` within the range?
    pub fn allows(&self, value: &Value) -> bool {
        if let (Kind::Choice(words), Value::Choice(word)) = (&self.kind, value) {
            return words.contains(word);
        }
        let x = value.base();
        x >= self.min && x <= self.max
    }
}

/// A law's parameters: a plain struct declared by [`params!`].
pub trait ParamSet: Default {
    /// The parameters, in the order of declaration.
    fn infos() -> Vec<ParamInfo>;
    /// Sets the named parameter.
    ///
    /// # Errors
    /// If there is no such parameter, or the value does not fit it; nothing is set then.
    fn set(&mut self, name: &str, value: &Value) -> Result<(), ParamError>;
    /// Sets the named parameter of a running law.
    ///
    /// # Errors
    /// As [`set`](Self::set), and if the parameter is fixed once a law runs.
    fn tune(&mut self, name: &str, value: &Value) -> Result<(), ParamError> {
        if Self::infos().iter().any(|info| info.fixed && info.name == name) {
            return Err(ParamError::Fixed);
        }
        self.set(name, value)
    }
}

/// Why a parameter was refused.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamError {
    /// There is no such law.
    UnknownLaw,
    /// The law has no such parameter.
    UnknownName,
    /// It takes a value of another kind.
    WrongKind(Kind),
    /// It lies outside of the range.
    OutOfRange,
    /// It cannot change once the law runs.
    Fixed,
}

/// The first parameter that a law refuses, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The parameter's name.
    pub name: String,
    /// Why it was refused.
    pub error: ParamError,
}

/// Fills a law's parameters from named values.
pub fn fill<P: ParamSet>(values: &[(String, Value)]) -> Result<P, Refusal> {
    let mut params = P::default();
    for (name, value) in values {
        params.set(name, value).map_err(|error| Refusal { name: name.clone(), error })?;
    }
    Ok(params)
}

/// The refusal of an unknown law.
pub fn unknown(name: &str) -> Refusal {
    Refusal { name: name.to_owned(), error: ParamError::UnknownLaw }
}

/// Declares an enum that a parameter may be, each variant with the word that scenarios write for it.
#[macro_export]
macro_rules! choices {
    ($(#[doc = $top:expr])* pub enum $Set:ident {
        $( $(#[doc = $help:expr])+ $Variant:ident = $word:literal, )+
    }) => {
        $(#[doc = $top])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $Set { $( $(#[doc = $help])+ $Variant, )+ }

        impl $crate::params::ParamType for $Set {
            fn kind() -> $crate::params::Kind {
                $crate::params::Kind::Choice(vec![$($word.into()),+])
            }
            fn from_value(value: &$crate::params::Value) -> Option<Self> {
                let $crate::params::Value::Choice(word) = value else { return None };
                match word.as_ref() {
                    $( $word => Some(Self::$Variant), )+
                    _ => None,
                }
            }
            fn to_value(self) -> $crate::params::Value {
                match self { $( Self::$Variant => $crate::params::Value::word($word), )+ }
            }
        }
    };
}

/// The range of a parameter. Flags and words give none.
#[doc(hidden)]
pub fn bounds(given: &[f64]) -> (f64, f64) {
    match given {
        [min, max] => (*min, *max),
        _ => (0.0, 1.0),
    }
}

/// A parameter from a value of its kind within its range.
#[doc(hidden)]
pub fn checked<T: ParamType>(value: &Value, (min, max): (f64, f64)) -> Result<T, ParamError> {
    let typed = T::from_value(value).ok_or_else(|| ParamError::WrongKind(T::kind()))?;
    let is_allowed = matches!(value, Value::Choice(_)) || (min..=max).contains(&value.base());
    is_allowed.then_some(typed).ok_or(ParamError::OutOfRange)
}

/// Words that may follow `=>` in a declaration.
#[doc(hidden)]
pub mod change {
    /// The parameter keeps its value while the law runs.
    #[allow(non_upper_case_globals)]
    pub const fixed: bool = true;
}

/// Declares a law's parameters, each with its meaning, default and range (in 1, s, bit/s or bytes). Flags and
/// [words](crate::choices) have no range. `=> fixed` marks a parameter that cannot change while the law runs. Sets of
/// parameters that several laws share come last, as `with field: Set;`. Users see these as the law's own parameters.
///
/// ```
/// knee_laws::params! {
///     /// What two laws have in common.
///     pub struct Shared {
///         /// Share of the window that a loss leaves.
///         pub keep: f64 = 0.5, in 0.1, 0.99;
///     }
/// }
/// knee_laws::params! {
///     /// What one of them has.
///     pub struct Params {
///         /// Packets added each RTT.
///         pub step: f64 = 1.0, in 0.01, 100.0;
///         /// Slow-start threshold at the start, in packets.
///         pub initial_ssthresh: f64 = 1e9, in 2.0, 1e9 => fixed;
///         with shared: Shared;
///     }
/// }
/// use knee_laws::params::{ParamError, ParamSet, Value};
/// let mut params = Params::default();
/// assert_eq!(params.tune("keep", &Value::Number(0.7)), Ok(()));
/// assert_eq!(params.shared.keep, 0.7);
/// assert_eq!(params.tune("initial_ssthresh", &Value::Number(64.0)), Err(ParamError::Fixed));
/// ```
#[macro_export]
macro_rules! params {
    ($(#[doc = $top:expr])* pub struct $Set:ident {
        $( $(#[doc = $help:expr])+ pub $name:ident: $type:ty = $default:expr
            $(, in $min:expr, $max:expr)? $(=> $change:ident)?; )*
        $( with $part:ident: $Part:ty; )*
    }) => {
        $(#[doc = $top])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $Set {
            $( $(#[doc = $help])+ pub $name: $type, )*
            $( #[doc = "Parameters that other laws have too."] pub $part: $Part, )*
        }

        impl Default for $Set {
            fn default() -> Self {
                Self { $( $name: $default, )* $( $part: <$Part>::default(), )* }
            }
        }

        impl $crate::params::ParamSet for $Set {
            fn infos() -> Vec<$crate::params::ParamInfo> {
                #[allow(unused_imports)]
                use $crate::params::{ParamSet, ParamType};
                #[allow(unused_mut)]
                let mut infos = vec![ $( $crate::params::ParamInfo {
                    name: stringify!($name).into(),
                    kind: <$type>::kind(),
                    default: <$type>::to_value($default),
                    min: $crate::params::bounds(&[$($min as f64, $max as f64)?]).0,
                    max: $crate::params::bounds(&[$($min as f64, $max as f64)?]).1,
                    help: concat!($($help),+).trim_ascii().into(),
                    fixed: false $( || $crate::params::change::$change )?,
                } ),* ];
                $( infos.extend(<$Part>::infos()); )*
                infos
            }

            #[allow(unused_variables)]
            fn set(&mut self, name: &str, value: &$crate::params::Value)
                -> Result<(), $crate::params::ParamError>
            {
                $( if name == stringify!($name) {
                    let range = $crate::params::bounds(&[$($min as f64, $max as f64)?]);
                    self.$name = $crate::params::checked(value, range)?;
                    return Ok(());
                } )*
                $( match $crate::params::ParamSet::set(&mut self.$part, name, value) {
                    Err($crate::params::ParamError::UnknownName) => {}
                    answer => return answer,
                } )*
                Err($crate::params::ParamError::UnknownName)
            }
        }
    };
}

/// Implements `tune` for a law with its parameters in `self.params`. The method named in braces, if there is one, then
/// updates what the law has computed from its parameters.
///
/// ```
/// # use knee_laws::{params, tunes};
/// # use knee_laws::sender::{Ack, Loss, SenderLaw};
/// # params! { pub struct Params {
/// #   /// Share of the window that a loss leaves.
/// #   pub keep: f64 = 0.5, in 0.1, 0.99;
/// # } }
/// struct Law { params: Params, ln_keep: f64 }
///
/// impl Law {
///     fn derive(&mut self) {
///         self.ln_keep = self.params.keep.ln();
///     }
/// }
///
/// impl SenderLaw for Law {
///     tunes! { derive }
///     // ...
/// #   fn on_ack(&mut self, _: &Ack) {}
/// #   fn on_loss(&mut self, _: &Loss) {}
/// #   fn on_timeout(&mut self, _: &Loss) {}
/// #   fn window(&self) -> f64 { 1.0 }
/// }
/// ```
#[macro_export]
macro_rules! tunes {
    ($($derive:ident)?) => {
        fn tune(
            &mut self,
            name: &str,
            value: &$crate::params::Value,
        ) -> Result<(), $crate::params::ParamError> {
            $crate::params::ParamSet::tune(&mut self.params, name, value)?;
            $( self.$derive(); )?
            Ok(())
        }
    };
}

params! {
    /// A law without parameters.
    pub struct NoParams {}
}

#[cfg(test)]
mod tests {
    use super::*;

    choices! {
        /// For the tests.
        pub enum Shape {
            /// Without corners.
            Round = "round",
            /// With four.
            Square = "square",
        }
    }

    params! {
        /// For the tests.
        pub struct Sample {
            /// A gain.
            pub gain: f64 = 0.5, in 0.0, 1.0;
            /// An interval.
            pub interval: Span = Span::from_millis(200), in 0.001, 10.0;
            /// A form.
            pub shape: Shape = Shape::Round;
            /// Where it begins.
            pub start: u64 = 3, in 1, 9 => fixed;
            with common: Common;
        }
    }

    params! {
        /// Of several laws.
        pub struct Common {
            /// A weight.
            pub weight: f64 = 0.1, in 0.0, 1.0;
        }
    }

    #[test]
    fn a_parameter_is_set_within_its_range_only() {
        let mut sample = Sample::default();
        assert_eq!(sample.set("gain", &Value::Number(0.25)), Ok(()));
        assert_eq!(sample.gain, 0.25);
        assert_eq!(sample.set("gain", &Value::Number(1.5)), Err(ParamError::OutOfRange));
        assert_eq!(sample.set("gain", &Value::Number(f64::NAN)), Err(ParamError::OutOfRange));
        assert_eq!(
            sample.set("gain", &Value::Flag(true)),
            Err(ParamError::WrongKind(Kind::Number))
        );
        assert_eq!(sample.set("gian", &Value::Number(0.1)), Err(ParamError::UnknownName));
        assert_eq!(sample.gain, 0.25);
    }

    #[test]
    fn a_shared_set_is_part_of_the_law_s() {
        let mut sample = Sample::default();
        assert_eq!(sample.set("weight", &Value::Number(0.4)), Ok(()));
        assert_eq!(sample.set("weight", &Value::Number(4.0)), Err(ParamError::OutOfRange));
        assert_eq!(sample.common, Common { weight: 0.4 });
        let names: Vec<_> = Sample::infos().into_iter().map(|info| info.name).collect();
        assert_eq!(names, ["gain", "interval", "shape", "start", "weight"]);
    }

    #[test]
    fn what_is_fixed_can_be_set_but_not_tuned() {
        let mut sample = Sample::default();
        assert_eq!(sample.set("start", &Value::Integer(5)), Ok(()));
        assert_eq!(sample.tune("start", &Value::Integer(6)), Err(ParamError::Fixed));
        assert_eq!(sample.start, 5);
        assert_eq!(sample.tune("weight", &Value::Number(0.4)), Ok(()));
        assert_eq!(sample.tune("wieght", &Value::Number(0.4)), Err(ParamError::UnknownName));
        let fixed: Vec<_> = Sample::infos().into_iter().map(|info| info.fixed).collect();
        assert_eq!(fixed, [false, false, false, true, false]);
    }

    #[test]
    fn a_word_is_one_of_those_declared() {
        let mut sample = Sample::default();
        assert_eq!(sample.set("shape", &Value::word("square")), Ok(()));
        assert_eq!(sample.shape, Shape::Square);
        let words = || Kind::Choice(vec!["round".into(), "square".into()]);
        for wrong in [Value::word("oval"), Value::Flag(true)] {
            assert_eq!(sample.set("shape", &wrong), Err(ParamError::WrongKind(words())));
        }
        let info = &Sample::infos()[2];
        assert_eq!(
            (info.range().as_str(), info.default.clone()),
            ("round or square", Value::word("round"))
        );
        assert!(info.allows(&info.default) && !info.allows(&Value::word("oval")));
    }

    #[test]
    fn ranges_carry_units() {
        assert_eq!(Sample::infos()[1].range(), "1 ms to 10 s");
        assert_eq!(Sample::infos()[0].help, "A gain.");
    }
}
