//! How long frames of IEEE 802.11 take, and the constants of its distributed coordination function (DCF).
//!
//! IEEE Std 802.11-2016: clause 10.3 (DCF), 16 (802.11b, HR/DSSS), 17 (802.11a, OFDM), 18 (802.11g, ERP), 19 (802.11n, HT).

use knee_laws::quantities::{BitRate, Span};

/// A physical layer and its medium access. Every constant may be set.
#[derive(Clone, Debug, PartialEq)]
pub struct Phy {
    /// aSlotTime.
    pub slot: Span,
    /// Short interframe space.
    pub sifs: Span,
    /// Preamble and PLCP header, before every frame.
    pub preamble: Span,
    /// Silence at the end of every frame (802.11g's signal extension).
    pub extension: Span,
    /// OFDM's symbols: frames last whole symbols. `None` for DSSS.
    pub symbol: Option<Symbol>,
    /// Rate of ACKs, RTS and CTS if no rate of `mandatory` is at most that of the data.
    pub basic_rate: BitRate,
    /// Rates for ACKs, RTS and CTS: they take the highest that is at most that of the data. Empty: always `basic_rate`.
    pub mandatory: Vec<BitRate>,
    /// Bytes that the MAC adds to a packet: header and checksum.
    pub overhead_bytes: u32,
    /// Bytes of an ACK or a CTS.
    pub ack_bytes: u32,
    /// Bytes of an RTS.
    pub rts_bytes: u32,
    /// CWmin: the first contention window is 0 to this, in slots.
    pub cw_min: u32,
    /// CWmax.
    pub cw_max: u32,
    /// The most transmissions of a frame without RTS, or of an RTS.
    pub short_retry_limit: u32,
    /// The most transmissions of a frame that follows an RTS.
    pub long_retry_limit: u32,
    /// Packets with more bytes are sent after an RTS.
    pub rts_threshold: u32,
    /// Are backoffs drawn without the window's last value 2^i (CWmin + 1) - 1, as in ns-2?
    pub open_window: bool,
    /// Silence after a collision in addition to EIFS: DIFS in ns-2.
    pub after_collision: Span,
    /// Does a station transmit without a backoff if the channel is idle and its last backoff is over?
    pub immediate_access: bool,
    /// The most packets of a transmission (A-MPDU); 1: no aggregation.
    pub aggregate_packets: u32,
    /// The most bytes of these packets.
    pub aggregate_bytes: u32,
    /// Bytes of the ACK of several packets (BlockAck).
    pub block_ack_bytes: u32,
    /// Bytes between packets of one transmission.
    pub delimiter_bytes: u32,
}

/// A physical layer by name.
#[derive(Clone, Copy, Debug)]
pub struct Standard {
    /// Its name.
    pub name: &'static str,
    /// Its frame times and constants.
    pub phy: fn() -> Phy,
    /// The rates of its data frames in Mbps, in order.
    pub rates_mbps: &'static [f64],
}

const OFDM: &[f64] = &[6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0];

/// Every standard, the default first.
pub const STANDARDS: [Standard; 4] = [
    Standard { name: "802.11b", phy: Phy::b, rates_mbps: &[1.0, 2.0, 5.5, 11.0] },
    Standard { name: "802.11a", phy: Phy::a, rates_mbps: OFDM },
    Standard { name: "802.11g", phy: Phy::g, rates_mbps: OFDM },
    Standard {
        name: "802.11n",
        phy: Phy::n,
        rates_mbps: &[6.5, 13.0, 19.5, 26.0, 39.0, 52.0, 58.5, 65.0],
    },
];

impl PartialEq for Standard {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Standard {
    /// The standard of this name.
    pub fn named(name: &str) -> Option<Self> {
        STANDARDS.into_iter().find(|standard| standard.name == name)
    }

    /// Can its data frames have this rate?
    pub fn has_rate(&self, rate: BitRate) -> bool {
        self.rates_mbps.iter().any(|mbps| (mbps * 1e6 - rate.bps()).abs() < 1.0)
    }

    /// Its rates in words.
    pub fn rates(&self) -> String {
        let all: Vec<String> = self.rates_mbps.iter().map(ToString::to_string).collect();
        format!("{} has frames of {} Mbps", self.name, all.join(", "))
    }

    /// The highest of its rates.
    pub fn highest(&self) -> BitRate {
        BitRate::from_mbps(self.rates_mbps.last().copied().unwrap_or(1.0))
    }
}

/// OFDM's symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The duration of a symbol.
    pub span: Span,
    /// Service and tail bits of a frame.
    pub bits: u32,
}

/// More bytes than a frame can have.
const NEVER: u32 = u32::MAX;

impl Phy {
    /// 802.11b with the long preamble: 1, 2, 5.5 and 11 Mbps.
    pub fn b() -> Self {
        Self {
            slot: Span::from_micros(20),
            sifs: Span::from_micros(10),
            preamble: Span::from_micros(192),
            extension: Span::ZERO,
            symbol: None,
            basic_rate: BitRate::from_mbps(1.0),
            mandatory: Vec::new(),
            overhead_bytes: 28,
            ack_bytes: 14,
            rts_bytes: 20,
            cw_min: 31,
            cw_max: 1023,
            short_retry_limit: 7,
            long_retry_limit: 4,
            rts_threshold: NEVER,
            open_window: false,
            after_collision: Span::ZERO,
            immediate_access: true,
            aggregate_packets: 1,
            aggregate_bytes: 65_535,
            block_ack_bytes: 32,
            delimiter_bytes: 4,
        }
    }

    /// 802.11a: 6 to 54 Mbps in the 5 GHz band.
    pub fn a() -> Self {
        Self {
            slot: Span::from_micros(9),
            sifs: Span::from_micros(16),
            preamble: Span::from_micros(20),
            symbol: Some(Symbol { span: Span::from_micros(4), bits: 22 }),
            basic_rate: BitRate::from_mbps(6.0),
            mandatory: [6.0, 12.0, 24.0].map(BitRate::from_mbps).into(),
            cw_min: 15,
            ..Self::b()
        }
    }

    /// 802.11g without stations of 802.11b: short slots.
    pub fn g() -> Self {
        Self { sifs: Span::from_micros(10), extension: Span::from_micros(6), ..Self::a() }
    }

    /// 802.11n in 20 MHz of the 5 GHz band, one stream, A-MPDU of up to 32 packets.
    pub fn n() -> Self {
        Self {
            preamble: Span::from_micros(36),
            overhead_bytes: 30,
            aggregate_packets: 32,
            ..Self::a()
        }
    }

    /// DCF interframe space: SIFS and two slots.
    pub fn difs(&self) -> Span {
        self.sifs + self.slot * 2
    }

    /// Extended interframe space, after a frame that could not be read: SIFS, an ACK at the lowest rate, DIFS.
    pub fn eifs(&self) -> Span {
        self.sifs + self.air(self.ack_bytes, self.basic_rate) + self.difs()
    }

    /// How long this many bytes at this rate occupy the channel.
    pub fn air(&self, bytes: u32, rate: BitRate) -> Span {
        let body = match self.symbol {
            None => rate.time_for(u64::from(bytes)),
            Some(symbol) => {
                let bits = f64::from(8 * bytes + symbol.bits);
                let a_symbol = rate.bps() * symbol.span.seconds();
                symbol.span * libm::ceil(bits / a_symbol - 1e-9) as u64
            }
        };
        self.preamble + body + self.extension
    }

    /// The rate of the ACK of data at this rate.
    pub fn ack_rate(&self, data: BitRate) -> BitRate {
        let below = self.mandatory.iter().copied().filter(|rate| rate.bps() <= data.bps());
        below.fold(self.basic_rate, |best, rate| if rate.bps() > best.bps() { rate } else { best })
    }

    /// How long the data of a transmission takes, given the bytes of each packet.
    pub fn data(&self, packets: &[u32], rate: BitRate) -> Span {
        let bytes = match packets {
            [packet] => packet + self.overhead_bytes,
            packets => packets
                .iter()
                .map(|bytes| {
                    (bytes + self.overhead_bytes + self.delimiter_bytes).next_multiple_of(4)
                })
                .sum(),
        };
        self.air(bytes, rate)
    }

    /// From the end of data at this rate to the end of its ACK.
    pub fn answer(&self, packets: usize, rate: BitRate) -> Span {
        let bytes = if packets > 1 { self.block_ack_bytes } else { self.ack_bytes };
        self.sifs + self.air(bytes, self.ack_rate(rate))
    }

    /// RTS and CTS with the silence after each.
    pub fn announcement(&self, rate: BitRate) -> Span {
        let rate = self.ack_rate(rate);
        self.air(self.rts_bytes, rate) + self.sifs + self.air(self.ack_bytes, rate) + self.sifs
    }

    /// How long an RTS takes.
    pub fn rts(&self, rate: BitRate) -> Span {
        self.air(self.rts_bytes, self.ack_rate(rate))
    }

    /// The contention window after this many failures in a row.
    pub fn window(&self, failures: u32) -> u32 {
        let width = u64::from(self.cw_min + 1) << failures.min(20);
        (width - 1).min(u64::from(self.cw_max)) as u32
    }

    /// A backoff in slots, from a number uniform in [0, 1).
    pub fn backoff(&self, failures: u32, uniform: f64) -> u64 {
        let values = self.window(failures) + u32::from(!self.open_window);
        (uniform * f64::from(values.max(1))) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(span: Span) -> f64 {
        span.seconds() * 1e6
    }

    /// The constants of 6.1.2.1 in Qazi's dissertation, and of the reference runs: a frame of 1500 bytes at 11 Mbps
    /// takes 1303.3 us (1307.6 with ns-2's 34 bytes of overhead), an ACK 304 us, EIFS 364 us.
    #[test]
    fn frames_of_802_11b_take_their_time() {
        let phy = Phy::b();
        let rate = BitRate::from_mbps(11.0);
        assert_eq!(us(phy.difs()), 50.0);
        assert!((us(phy.data(&[1500], rate)) - 1303.27).abs() < 0.01);
        assert!((us(phy.answer(1, rate)) - 314.0).abs() < 1e-6);
        assert!((us(phy.eifs()) - 364.0).abs() < 1e-6);
        let ns2 = Phy { overhead_bytes: 34, ..Phy::b() };
        assert!((us(ns2.data(&[1500], rate)) - 1307.64).abs() < 0.01);
    }

    /// IEEE Std 802.11-2016, 17.4.3: 1500 + 28 bytes at 54 Mbps are 57 symbols, an ACK at 24 Mbps takes 28 us.
    #[test]
    fn frames_of_802_11a_and_g_are_whole_symbols() {
        let rate = BitRate::from_mbps(54.0);
        let a = Phy::a();
        assert!((us(a.data(&[1500], rate)) - (20.0 + 57.0 * 4.0)).abs() < 1e-6);
        assert!((us(a.answer(1, rate)) - (16.0 + 28.0)).abs() < 1e-6);
        assert_eq!((us(a.difs()), a.window(0)), (34.0, 15));
        let g = Phy::g();
        assert!((us(g.data(&[1500], rate)) - (20.0 + 57.0 * 4.0 + 6.0)).abs() < 1e-6);
        assert_eq!(us(g.difs()), 28.0);
        for (data, ack) in [(6.0, 6.0), (9.0, 6.0), (18.0, 12.0), (24.0, 24.0), (54.0, 24.0)] {
            assert_eq!(a.ack_rate(BitRate::from_mbps(data)).bps(), ack * 1e6);
        }
    }

    #[test]
    fn windows_double_up_to_the_largest() {
        let phy = Phy::b();
        let windows: Vec<_> = (0..8).map(|failures| phy.window(failures)).collect();
        assert_eq!(windows, [31, 63, 127, 255, 511, 1023, 1023, 1023]);
        assert_eq!((phy.backoff(0, 0.0), phy.backoff(0, 0.999_999)), (0, 31));
        let ns2 = Phy { open_window: true, ..Phy::b() };
        assert_eq!(ns2.backoff(0, 0.999_999), 30);
    }
}
