//! Wireless LANs in closed form (Bianchi 2000; qazi2010, chapter 6).

use crate::model::{Columns, Model, NoColumns, numbers, wholes, within};
use knee_fluid::dcf::{Times, Windows, fixed_point, throughput};
use knee_fluid::effort::Effort;
use knee_input::problem::{Fault, KeyPath};
use knee_input::quantity::{Period, Rate, Size};
use knee_laws::capacity::{Channel, passive};
use knee_laws::quantities::{BitRate, Span};
use knee_path::{Phy, STANDARDS, Standard};
use serde::Deserialize;

/// Saturated stations: they always have something to send.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Saturation {
    stations: Vec<u32>,
    standard: Option<String>,
    rate: Option<Rate>,
    packet: Option<Size>,
    errors: Option<f64>,
    retry_limit: Option<u32>,
    cw_min: Option<u32>,
    cw_max: Option<u32>,
    overhead: Option<Size>,
    after_collision: Option<String>,
}

/// The capacity of a link of a channel.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Capacity {
    standard: Option<String>,
    rate: Option<Rate>,
    packet: Option<Size>,
    ack: Option<Size>,
    loss: Option<f64>,
    others: Option<f64>,
    backoff: Option<Period>,
}

fn standard(name: Option<&str>) -> Result<Standard, Fault> {
    let name = name.unwrap_or(STANDARDS[0].name);
    Standard::named(name).ok_or_else(|| {
        let fault = KeyPath::root().key("standard").fault("there is no such standard");
        fault.among("there are", name, STANDARDS.iter().map(|standard| standard.name))
    })
}

fn rate(standard: Standard, rate: Option<Rate>) -> Result<BitRate, Fault> {
    let rate = rate.map_or(standard.highest(), |rate| rate.0);
    match standard.has_rate(rate) {
        true => Ok(rate),
        false => Err(KeyPath::root().key("rate").fault(standard.rates())),
    }
}

fn bytes(key: &str, size: Size) -> Result<u32, Fault> {
    within(key, size.0 as f64, 1.0, 65_535.0)?;
    Ok(size.0 as u32)
}

/// The largest retry limit; above, a limit would make no difference.
const MOST_RETRIES: u32 = 1000;

impl Model for Saturation {
    fn solve(self, effort: &Effort) -> Result<Columns, NoColumns> {
        let standard = standard(self.standard.as_deref())?;
        let rate = rate(standard, self.rate)?;
        let packet = bytes("packet", self.packet.unwrap_or(Size(1500)))?;
        let mut phy: Phy = (standard.phy)();
        phy.overhead_bytes =
            self.overhead.map_or(Ok(phy.overhead_bytes), |size| bytes("overhead", size))?;
        let errors = self.errors.unwrap_or(0.0);
        within("errors", errors, 0.0, 0.99)?;
        let windows = Windows {
            cw_min: f64::from(self.cw_min.unwrap_or(phy.cw_min)),
            cw_max: f64::from(self.cw_max.unwrap_or(phy.cw_max)),
            retry_limit: match self.retry_limit.unwrap_or(phy.short_retry_limit) {
                0 => None,
                limit => Some(limit.min(MOST_RETRIES)),
            },
        };
        within("cw_min", windows.cw_min, 1.0, 65_535.0)?;
        within("cw_max", windows.cw_max, windows.cw_min, 65_535.0)?;
        let rest = match self.after_collision.as_deref() {
            None | Some("eifs") => phy.eifs(),
            Some("difs") => phy.difs(),
            Some(other) => {
                let fault = KeyPath::root().key("after_collision").fault("there is no such rest");
                return Err(fault.among("there are", other, ["difs", "eifs"].into_iter()).into());
            }
        };
        let data = phy.data(&[packet], rate);
        let times = Times {
            slot: phy.slot.seconds(),
            success: (data + phy.answer(1, rate) + phy.difs()).seconds(),
            collision: (data + rest).seconds(),
            error: (data + rest).seconds(),
        };
        let mut points = Vec::new();
        for (index, &stations) in self.stations.iter().enumerate() {
            effort.spend(1000)?;
            let at = KeyPath::root().key("stations").index(index);
            if !(1..=100_000).contains(&stations) {
                return Err(at.fault("must be from 1 to 100000").into());
            }
            let point = fixed_point(stations, &windows, errors)
                .ok_or_else(|| at.fault("there is no rest: nothing gets through"))?;
            let bits = 8.0 * f64::from(packet);
            points.push((point, throughput(stations, bits, errors, (&point, &times))));
        }
        Ok(vec![
            ("stations", wholes(self.stations.iter().map(|&stations| u64::from(stations)))),
            ("throughput_mbps", numbers(points.iter().map(|(_, bps)| bps * 1e-6))),
            ("transmission_probability", numbers(points.iter().map(|(point, _)| point.tau))),
            ("collision_probability", numbers(points.iter().map(|(point, _)| point.p))),
            ("failure_probability", numbers(points.iter().map(|(point, _)| point.failure))),
            ("drop_probability", numbers(points.iter().map(|(point, _)| point.drop))),
        ])
    }
}

impl Model for Capacity {
    fn solve(self, _: &Effort) -> Result<Columns, NoColumns> {
        let standard = standard(self.standard.as_deref())?;
        let rate = rate(standard, self.rate)?;
        let phy: Phy = (standard.phy)();
        let packet = bytes("packet", self.packet.unwrap_or(Size(1500)))?;
        let (loss, others) = (self.loss.unwrap_or(0.0), self.others.unwrap_or(0.0));
        within("loss", loss, 0.0, 1.0)?;
        within("others", others, 0.0, 1.0)?;
        let backoff =
            self.backoff.map_or_else(|| phy.slot.scale(f64::from(phy.cw_min) / 2.0), |time| time.0);
        // (6.4), with T^ack of the ACK's bits at its rate.
        let ack_time = phy.air(phy.ack_bytes, phy.ack_rate(rate));
        let overhead = phy.difs() + phy.preamble + backoff + phy.sifs + ack_time;
        let of = |bytes: u32| {
            let body = Span::from_seconds(8.0 * f64::from(bytes) / rate.bps());
            passive(&Channel { rate, loss, others, body, overhead }).bps()
        };
        let capacity = of(packet);
        // A packet and the transport's ACK, which is a transmission of its own.
        let with_acks = match self.ack {
            None => capacity,
            Some(ack) => {
                let ack = bytes("ack", ack)?;
                let bits = |bytes: u32| 8.0 * f64::from(bytes);
                bits(packet) / (bits(packet) / capacity + bits(ack) / of(ack))
            }
        };
        let mac = rate.bps() * (1.0 - loss) * (1.0 - others);
        Ok(vec![
            ("mac_mbps", numbers([mac * 1e-6])),
            ("overhead_us", numbers([overhead.seconds() * 1e6])),
            ("capacity_mbps", numbers([capacity * 1e-6])),
            ("capacity_with_acks_mbps", numbers([with_acks * 1e-6])),
        ])
    }
}
