//! The kinds of feedback: their names and properties.

/// Properties of a codec. Flags that are left out are off.
#[derive(Clone, Copy, Debug)]
pub struct Properties {
    /// Its name in messages.
    pub name: &'static str,
    /// What it is, in a line.
    pub title: &'static str,
    /// The two ECN bits of a packet as its sender emits it.
    pub initial: u8,
    /// Does it use the two ECN bits? Two such codecs may not share a path.
    pub uses_ecn_bits: bool,
    /// Can its sender work without it?
    pub is_optional: bool,
    /// Can its packets carry RFC 3168's mark? Then routers may mark them instead of dropping them.
    pub bears_mark: bool,
    /// Does a router that writes it also give RFC 3168's mark to packets that can carry one?
    pub writes_mark: bool,
    /// Does its sender learn from RFC 3168's mark?
    pub reads_mark: bool,
    /// Do the marks of single packets count? Then an ACK covers only packets with the same mark (RFC 8257, 3.2).
    pub counts_marks: bool,
    /// Does the sender write a congestion header?
    pub has_header: bool,
}

impl Properties {
    const PLAIN: Self = Self {
        name: "",
        title: "",
        initial: 0,
        uses_ecn_bits: false,
        is_optional: false,
        bears_mark: false,
        writes_mark: false,
        reads_mark: false,
        counts_marks: false,
        has_header: false,
    };
}

macro_rules! codecs {
    ($( $(#[$attribute:meta])+ $Codec:ident { $($property:ident: $value:expr),* $(,)? } )*) => {
        /// The kind of feedback a law reads or writes.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Codec { $( $(#[$attribute])+ $Codec, )* }

        impl Codec {
            /// Every codec.
            pub const ALL: &[Self] = &[$(Self::$Codec),*];

            /// The codec with this index in [`Codec::ALL`].
            #[inline(always)]
            pub(super) const fn at(place: u8) -> Self {
                match place {
                    $( place if place == Self::$Codec as u8 => Self::$Codec, )*
                    _ => Self::None,
                }
            }

            /// Its name and properties.
            #[inline(always)]
            pub const fn properties(self) -> Properties {
                match self {
                    $( Self::$Codec => Properties { $($property: $value,)* ..Properties::PLAIN }, )*
                }
            }
        }
    };
}

/// ECT(0), as [`ecn::CAPABLE`](super::ecn::CAPABLE).
const ECT_0: u8 = 0b10;
/// ECT(1), as [`ecn::CAPABLE_L4S`](super::ecn::CAPABLE_L4S).
const ECT_1: u8 = 0b01;

codecs! {
    /// No explicit feedback: losses and delays only.
    #[default]
    None {
        name: "none",
        title: "no explicit feedback: losses and delays only",
        is_optional: true,
    }
    /// One bit, RFC 3168: echoed until the sender says that it has reduced its window.
    Ecn {
        name: "ecn",
        title: "one bit (RFC 3168), echoed until the sender has reduced its window",
        initial: ECT_0,
        uses_ecn_bits: true,
        is_optional: true,
        bears_mark: true,
        writes_mark: true,
        reads_mark: true,
    }
    /// Two bits of load in the ECN field (VCP), echoed for each packet.
    Load2 {
        name: "load2",
        title: "two bits of load in the ECN field (VCP), echoed by every ACK",
        initial: ECT_1,
        uses_ecn_bits: true,
    }
    /// XCP's congestion header: window, RTT, and a change of window that routers lower.
    Xcp {
        name: "xcp",
        title: "XCP's header: window and RTT out, change of window back",
        has_header: true,
    }
    /// RFC 3168's mark, but echoed for each packet, so that the sender learns the fraction of marked packets.
    AccurateEcn {
        name: "accurate-ecn",
        title: "one bit as RFC 3168 marks it, echoed by every ACK (RFC 8257, RFC 9768)",
        initial: ECT_0,
        uses_ecn_bits: true,
        is_optional: true,
        bears_mark: true,
        reads_mark: true,
        counts_marks: true,
    }
    /// The same with ECT(1), which asks for L4S's frequent marks and low delay (RFC 9331).
    L4s {
        name: "l4s",
        title: "one bit on packets that ask for L4S (RFC 9331), echoed by every ACK",
        initial: ECT_1,
        uses_ecn_bits: true,
        is_optional: true,
        bears_mark: true,
        reads_mark: true,
        counts_marks: true,
    }
    /// MLCP's header: carries the sender's RTT, and returns codes of load and measurement interval.
    Mlcp {
        name: "mlcp",
        title: "MLCP's header: RTT out, codes of load and measurement interval back",
        has_header: true,
    }
    /// A load factor in the ECN bits of many packets (BMCC), echoed when its estimate changes. Overload is RFC
    /// 3168's mark; the other marks are given to its own senders only.
    Adpm {
        name: "adpm",
        title: "a load factor in the ECN bits of many packets (BMCC), its estimate echoed",
        initial: ECT_0,
        uses_ecn_bits: true,
        bears_mark: true,
        writes_mark: true,
        reads_mark: true,
        counts_marks: true,
        has_header: true,
    }
    /// A rate that routers lower (RCP), with the sender's RTT.
    Rate {
        name: "rate",
        title: "RCP's header: RTT out, the least rate of the path's links back",
        has_header: true,
    }
    /// One bit, echoed for each packet. The probability of a mark is exponential in the sum of the path's prices.
    Price {
        name: "price",
        title: "one ECN bit whose marks tell a price (REM), echoed by every ACK",
        initial: ECT_0,
        uses_ecn_bits: true,
        bears_mark: true,
        counts_marks: true,
    }
}

impl Codec {
    /// Its name in messages.
    pub fn name(self) -> &'static str {
        self.properties().name
    }

    /// What it is, in a line.
    pub fn title(self) -> &'static str {
        self.properties().title
    }

    /// Does it use the two ECN bits? Two such codecs may not share a path.
    pub fn uses_ecn_bits(self) -> bool {
        self.properties().uses_ecn_bits
    }

    /// Can its sender work without it?
    pub fn is_optional(self) -> bool {
        self.properties().is_optional
    }

    /// Can a sender of the other codec read what a router of this one writes?
    pub fn is_read_as(self, reader: Self) -> bool {
        self == reader || (self.properties().writes_mark && reader.properties().reads_mark)
    }

    /// Can its packets carry RFC 3168's mark?
    #[inline]
    pub fn bears_mark(self) -> bool {
        self.properties().bears_mark
    }

    /// Do the marks of single packets count? Then an ACK covers only packets with the same mark (RFC 8257, 3.2).
    #[inline]
    pub fn counts_marks(self) -> bool {
        self.properties().counts_marks
    }

    /// Does the sender write a congestion header?
    #[inline]
    pub fn has_header(self) -> bool {
        self.properties().has_header
    }
}
