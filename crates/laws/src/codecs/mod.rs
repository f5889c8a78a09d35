//! Feedback on the wire: what senders write, how hops combine it, what comes back.
//!
//! A file a codec; each holds the marking on a hop and the reading at the ends. [`Codec`] is their list,
//! [`Reader`] what a flow's receiver does.

pub mod adpm;
pub mod ecn;
pub mod load2;
pub mod mlcp;
pub mod price;
pub mod rate;
pub mod xcp;

pub use load2::Load;

use crate::quantities::Span;

/// The kind of feedback a law reads or writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Codec {
    /// No explicit feedback: losses and delays only.
    #[default]
    None = 0,
    /// One bit, RFC 3168: echoed until the sender says that it has reduced its window.
    Ecn = 1,
    /// Two bits of load in the ECN field (VCP), echoed a packet.
    Load2 = 2,
    /// XCP's congestion header: window, RTT, and a change of window that routers lower.
    Xcp = 3,
    /// One bit as RFC 3168 marks it, but echoed a packet, so that the sender learns the fraction.
    AccurateEcn = 4,
    /// The same with ECT(1), which asks for L4S's frequent marks and low delay (RFC 9331).
    L4s = 5,
    /// MLCP's header: the sender's RTT out, codes of load and measurement interval back.
    Mlcp = 6,
    /// A load factor in the ECN bits of many packets (BMCC), echoed when its estimate changes.
    Adpm = 7,
    /// A rate that routers lower (RCP), with the sender's RTT.
    Rate = 8,
    /// One bit, marked with a probability exponential in the sum of the path's prices, echoed a packet.
    Price = 9,
}

impl Codec {
    /// Its name, as messages show it.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Ecn => "ecn",
            Self::Load2 => "load2",
            Self::Xcp => "xcp",
            Self::AccurateEcn => "accurate-ecn",
            Self::L4s => "l4s",
            Self::Mlcp => "mlcp",
            Self::Adpm => "adpm",
            Self::Rate => "rate",
            Self::Price => "price",
        }
    }

    /// What it is, in a line.
    pub fn title(self) -> &'static str {
        match self {
            Self::None => "no explicit feedback: losses and delays only",
            Self::Ecn => "one bit (RFC 3168), echoed until the sender has reduced its window",
            Self::Load2 => "two bits of load in the ECN field (VCP), echoed by every ACK",
            Self::Xcp => "XCP's header: window and RTT out, change of window back",
            Self::AccurateEcn => {
                "one bit as RFC 3168 marks it, echoed by every ACK (RFC 8257, RFC 9768)"
            }
            Self::L4s => "one bit on packets that ask for L4S (RFC 9331), echoed by every ACK",
            Self::Mlcp => "MLCP's header: RTT out, codes of load and measurement interval back",
            Self::Adpm => {
                "a load factor in the ECN bits of many packets (BMCC), its estimate echoed"
            }
            Self::Rate => "RCP's header: RTT out, the least rate of the path's links back",
            Self::Price => "one ECN bit that marks tell prices by (REM), echoed by every ACK",
        }
    }

    /// Every codec.
    pub const ALL: [Self; 10] = [
        Self::None,
        Self::Ecn,
        Self::Load2,
        Self::Xcp,
        Self::AccurateEcn,
        Self::L4s,
        Self::Mlcp,
        Self::Adpm,
        Self::Rate,
        Self::Price,
    ];

    /// The codec in a packet's marks.
    #[inline]
    fn from_bits(bits: u8) -> Self {
        match bits {
            1 => Self::Ecn,
            2 => Self::Load2,
            3 => Self::Xcp,
            4 => Self::AccurateEcn,
            5 => Self::L4s,
            6 => Self::Mlcp,
            7 => Self::Adpm,
            8 => Self::Rate,
            9 => Self::Price,
            _ => Self::None,
        }
    }

    /// Does it live in the two ECN bits, so that no other such codec may share a path with it?
    pub fn uses_ecn_bits(self) -> bool {
        matches!(
            self,
            Self::Ecn | Self::AccurateEcn | Self::L4s | Self::Load2 | Self::Adpm | Self::Price
        )
    }

    /// Does a sender that reads it do without?
    pub fn is_optional(self) -> bool {
        matches!(self, Self::None | Self::Ecn | Self::AccurateEcn | Self::L4s)
    }

    /// Can a sender read it? ECN marks are learned in any way; ADPM's overload is such a mark, and its
    /// other marks are given to its own senders only.
    pub fn is_read_as(self, reader: Self) -> bool {
        match self {
            Self::Ecn | Self::Adpm => {
                matches!(reader, Self::Ecn | Self::AccurateEcn | Self::L4s | Self::Adpm)
            }
            _ => self == reader,
        }
    }

    /// Do marks count packet by packet, so that an ACK is for packets of one mark (RFC 8257, 3.2)?
    #[inline]
    pub fn counts_marks(self) -> bool {
        matches!(self, Self::AccurateEcn | Self::L4s | Self::Adpm | Self::Price)
    }

    /// Does the sender write a congestion header?
    #[inline]
    pub fn has_header(self) -> bool {
        matches!(self, Self::Xcp | Self::Mlcp | Self::Adpm | Self::Rate)
    }

    /// The marks of a packet as its sender emits it.
    #[inline]
    pub fn initial(self) -> Marks {
        let bits = match self {
            Self::Ecn | Self::AccurateEcn | Self::Adpm | Self::Price => ecn::CAPABLE,
            Self::L4s => ecn::CAPABLE_L4S,
            Self::Load2 => Load::Low as u8,
            Self::None | Self::Xcp | Self::Mlcp | Self::Rate => 0,
        };
        Marks::new(self, bits)
    }

    /// What the sender learns from an ACK's echoed ECN bits and words.
    #[inline]
    pub fn read(self, bits: u8, echo: [u32; 2]) -> Feedback {
        match self {
            Self::None => Feedback::None,
            Self::Ecn | Self::AccurateEcn | Self::L4s | Self::Price => {
                Feedback::Ecn { congested: bits == ecn::CONGESTED }
            }
            Self::Load2 => Feedback::Load(Load::from_bits(bits)),
            Self::Xcp => Feedback::Xcp { delta_bytes: xcp::read(echo) },
            Self::Mlcp => {
                let (code, interval) = mlcp::read(echo);
                Feedback::Mlcp { code, interval }
            }
            Self::Adpm => {
                Feedback::Adpm { estimate: adpm::read(echo), congested: bits == ecn::CONGESTED }
            }
            Self::Rate => rate::read(echo)
                .map_or(Feedback::None, |(rate, interval)| Feedback::Rate { rate, interval }),
        }
    }
}

/// What a flow's receiver keeps between data packet and ACK.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reader {
    /// RFC 3168: congestion was experienced and the sender has not answered yet.
    congested: bool,
    adpm: adpm::Reader,
}

/// What an ACK returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Echo {
    /// ECN bits.
    pub bits: u8,
    /// Words of feedback.
    pub words: [u32; 2],
    /// Bytes by which they enlarge the ACK.
    pub option_bytes: u16,
}

impl Reader {
    /// A data packet came; `reduced` is RFC 3168's CWR.
    #[inline]
    pub fn take(&mut self, marks: Marks, header: &Header, reduced: bool) {
        match marks.codec() {
            Codec::Ecn => {
                self.congested = (self.congested && !reduced) || marks.ecn() == ecn::CONGESTED;
            }
            Codec::Adpm => self.adpm.take(marks, header),
            _ => {}
        }
    }

    /// An ACK leaves that this data packet has prompted.
    #[inline]
    pub fn echo(&mut self, marks: Marks, header: &Header) -> Echo {
        let with = |words| Echo { words, bits: marks.ecn(), option_bytes: 0 };
        match marks.codec() {
            Codec::None => Echo::default(),
            Codec::Ecn if self.congested => Echo { bits: ecn::CONGESTED, ..Echo::default() },
            Codec::Ecn => Echo::default(),
            Codec::AccurateEcn | Codec::L4s | Codec::Load2 | Codec::Price => with([0; 2]),
            Codec::Xcp => with(xcp::echo(header)),
            Codec::Mlcp => with(mlcp::echo(header)),
            Codec::Rate => with(rate::echo(header)),
            Codec::Adpm => match self.adpm.echo() {
                None => with(adpm::words(None)),
                some => Echo { option_bytes: adpm::OPTION_BYTES, ..with(adpm::words(some)) },
            },
        }
    }
}

/// The words of a congestion header; their meaning is the codec's.
pub type Header = [u32; 4];

/// A byte of every packet: whether it is in profile (see [`rio`](crate::routers::rio)), its codec and
/// the two ECN bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks(u8);

const IN_PROFILE: u8 = 1 << 7;

impl Marks {
    /// Marks of this codec with these ECN bits.
    #[inline]
    pub fn new(codec: Codec, ecn: u8) -> Self {
        Self(((codec as u8) << 2) | (ecn & 3))
    }
    /// The codec.
    #[inline]
    pub fn codec(self) -> Codec {
        Codec::from_bits((self.0 & !IN_PROFILE) >> 2)
    }
    /// The two ECN bits.
    #[inline]
    pub fn ecn(self) -> u8 {
        self.0 & 3
    }
    /// Replaces the two ECN bits.
    #[inline]
    pub fn set_ecn(&mut self, bits: u8) {
        self.0 = (self.0 & !3) | (bits & 3);
    }
    /// Is the packet within the rate that its flow has been promised?
    #[inline]
    pub fn is_in_profile(self) -> bool {
        self.0 & IN_PROFILE != 0
    }
    /// The same marks in profile.
    #[inline]
    #[must_use]
    pub fn in_profile(self) -> Self {
        Self(self.0 | IN_PROFILE)
    }
}

/// The part of a packet that routers read and write.
#[derive(Debug)]
pub struct Wire<'a> {
    /// Codec and ECN bits.
    pub marks: &'a mut Marks,
    /// The congestion header of a data packet.
    pub header: &'a mut Header,
}

/// What an ACK tells the sender's law.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Feedback {
    /// Nothing explicit.
    #[default]
    None,
    /// Was congestion experienced? `Codec::Ecn` repeats it until the sender has answered;
    /// `Codec::AccurateEcn`, `Codec::L4s` and `Codec::Price` say it of each packet.
    Ecn {
        /// The echoed bit.
        congested: bool,
    },
    /// The load region of the most loaded hop.
    Load(Load),
    /// The change of window that the routers allow.
    Xcp {
        /// In bytes, a packet; negative to slow down.
        delta_bytes: f64,
    },
    /// The load of the most loaded hop and how long it measured.
    Mlcp {
        /// The level ([`mlcp::Levels`]); 0 if no hop has said any.
        code: u32,
        /// The measurement interval t_p.
        interval: Span,
    },
    /// The receiver's estimate of the load factor of the most loaded hop.
    Adpm {
        /// H of it ([`adpm::Map`]), if the ACK says any.
        estimate: Option<f64>,
        /// Did the packet bear (11)?
        congested: bool,
    },
    /// The least rate of the path's links.
    Rate {
        /// In bytes a second.
        rate: f64,
        /// The control interval in which its router computed it; it repeats within one, and is 0 if no
        /// router has written.
        interval: u32,
    },
}
