//! Feedback on the wire: what senders write, how hops combine it, what comes back.
//!
//! A codec is an entry of [`Codec`] with its properties, a file with its code, and a line below that connects the two.

pub mod adpm;
mod codec;
mod coding;
pub mod ecn;
mod feedback;
mod load;
pub mod load2;
pub mod mlcp;
mod none;
pub mod price;
pub mod rate;
mod wire;
pub mod xcp;

pub use codec::{Codec, Properties};
pub use coding::{Coding, Echo};
pub use feedback::Feedback;
pub use load::Load;
pub use wire::{Header, Marks, Wire};

macro_rules! join {
    ($($Codec:ident = $name:ident: $coding:path;)*) => {
        /// The state of a flow's receiver.
        #[derive(Clone, Copy, Debug, Default)]
        pub struct Reader { $($name: <$coding as Coding>::Receiver,)* }

        impl Reader {
            /// A data packet arrives; `reduced` is RFC 3168's CWR.
            #[inline]
            pub fn take(&mut self, marks: Marks, header: &Header, reduced: bool) {
                match marks.codec() {
                    $(Codec::$Codec => <$coding>::take(&mut self.$name, marks, header, reduced),)*
                }
            }

            /// The ACK of this data packet leaves.
            #[inline]
            pub fn echo(&mut self, marks: Marks, header: &Header) -> Echo {
                match marks.codec() {
                    $(Codec::$Codec => <$coding>::echo(&mut self.$name, marks, header),)*
                }
            }
        }

        impl Codec {
            /// What the sender learns from an ACK's echoed ECN bits and words.
            #[inline]
            pub fn read(self, bits: u8, words: [u32; 2]) -> Feedback {
                match self { $(Self::$Codec => <$coding>::read(bits, words),)* }
            }
        }
    };
}

join! {
    None = none: none::None;
    Ecn = ecn: ecn::Ecn;
    Load2 = load2: load2::Load2;
    Xcp = xcp: xcp::Xcp;
    AccurateEcn = accurate_ecn: ecn::EachMark;
    L4s = l4s: ecn::EachMark;
    Mlcp = mlcp: mlcp::Mlcp;
    Adpm = adpm: adpm::Adpm;
    Rate = rate: rate::Rate;
    Price = price: ecn::EachMark;
}
