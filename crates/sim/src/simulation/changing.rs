//! Changes of a running network.

use super::Simulation;
use crate::agenda::Kind;
use crate::config::{Change, LinkChange, LinkId, Newcomer};
use crate::failure::{Failure, Unchanged};
use crate::flow::{MAX_PACKETS, end_of};
use crate::link::{Link, Service};
use knee_laws::params::ParamError;
use knee_laws::quantities::Time;
use knee_laws::sender::SenderLaw;

impl Simulation {
    /// Runs all events before an instant, but stops after about this much work. Returns whether no event is left. A
    /// change that is then [applied](Self::apply) happens at the instant, before its events.
    pub fn run_before(&mut self, instant: Time, work: u64) -> Result<bool, Failure> {
        let is_done = match instant.ps() {
            0 => true,
            ps => self.run_some(Time::from_ps(ps - 1), work)?,
        };
        if is_done {
            self.now = self.now.max(instant);
        }
        Ok(is_done)
    }

    /// Changes something now. The same changes at the same instants give the same run, whether they come from
    /// outside or are part of the configuration.
    ///
    /// # Errors
    /// If there is no such component, it may not change, or a law refuses the value. Then nothing has changed.
    pub fn apply(&mut self, change: Change) -> Result<(), Unchanged> {
        match change {
            Change::Link(link, change) => self.change_one(link, &change),
            Change::Parameter(number, name, value) => {
                let slot = self.slot_of(number)?;
                self.flows[slot as usize].law.tune(&name, &value).map_err(Unchanged::Refused)
            }
            Change::Join(newcomer) => self.join(*newcomer),
            Change::Leave(number) => {
                let slot = self.slot_of(number)?;
                self.stop(slot);
                Ok(())
            }
        }
    }

    fn change_one(&mut self, link: LinkId, change: &LinkChange) -> Result<(), Unchanged> {
        let place = self.numbering.links.get(link.0 as usize).ok_or(Unchanged::Unknown)?;
        let place = *place;
        if !self.links[place as usize].is_changeable() {
            return Err(Unchanged::Fixed);
        }
        self.make_change(place, change).map_err(Unchanged::Refused)
    }

    /// Changes a link. On a shared channel, rate and loss are those of its station.
    fn make_change(&mut self, place: u32, change: &LinkChange) -> Result<(), ParamError> {
        let link = &mut self.links[place as usize];
        if link.service == Service::Medium {
            let station = &mut self.stations[link.server as usize];
            match change {
                LinkChange::Rate(rate) => station.rate = *rate,
                LinkChange::Loss(loss) => {
                    station.change_errors(*loss, self.seed);
                    return Ok(());
                }
                _ => {}
            }
        }
        link.change(change, self.now)
    }

    /// A link's own change is due.
    #[inline(never)]
    pub(super) fn change_link(&mut self, index: u32) {
        let Some(change) = self.links[index as usize].next_change() else { return };
        if let Err(error) = self.make_change(index, &change) {
            let (link, at) = (self.numbering.link(index), self.now);
            let message = format!("a change is refused: {error:?}");
            return self.fail(Failure::Router { link, at, message });
        }
        let next = self.links[index as usize].change_at();
        self.schedule_some(next, Kind::Change, index);
    }

    fn join(&mut self, newcomer: Newcomer) -> Result<(), Unchanged> {
        let Newcomer { links, mut flow } = newcomer;
        let known = self.numbering.links.len() + links.len();
        if flow.route.links().any(|link| link.0 as usize >= known) {
            return Err(Unchanged::Unknown);
        }
        for link in links {
            self.numbering.links.push(self.links.len() as u32);
            self.links.push(Link::new(link, self.seed));
        }
        for hop in flow.route.forward.iter_mut().chain(&mut flow.route.backward) {
            hop.0 = self.numbering.links[hop.0 as usize];
        }
        let route = self.add_route(&flow.route);
        let slot = self.take_in((flow.law, flow.group), route);
        let (group, identity) = (flow.group.0 as usize, self.next_member(flow.group));
        let first = self.groups[group].first_data();
        let joined = &mut self.flows[slot as usize];
        joined.limit = flow.packets.map_or(MAX_PACKETS, |packets| end_of(packets, first));
        joined.stop = flow.stop.unwrap_or(Time::NEVER);
        self.joined.push((joined.number, slot));
        if let Some(probed) = self.probed.get_mut(slot as usize) {
            *probed = 0;
        }
        self.schedule_some(flow.stop, Kind::Stop, slot);
        self.name_flow(slot, identity);
        self.left = i64::MAX; // no burst is cut, since nothing would resume it
        self.start(slot);
        Ok(())
    }

    fn slot_of(&self, number: u32) -> Result<u32, Unchanged> {
        let slot = self.flows.iter().position(|flow| flow.number == number && flow.started);
        slot.map(|slot| slot as u32).ok_or(Unchanged::Unknown)
    }
}
