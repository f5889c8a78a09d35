//! The simulation: takes events from the agenda, and moves packets between links and flows.

mod airing;
#[cfg(debug_assertions)]
mod audit;
mod building;
mod carrying;
mod changing;
mod reporting;

use crate::agenda::{Agenda, Event, Kind};
use crate::aggregate::Aggregate;
use crate::config::{GroupId, Probe, Transport};
use crate::failure::Failure;
use crate::flow::{Flow, Turn, end_of};
use crate::impairment::Fate;
use crate::link::{Link, Outcome, Service};
use crate::medium::Medium;
use crate::medium::station::Station;
use crate::numbering::Numbering;
use crate::packet::Packet;
use crate::receiver::{Answer, Receiver};
use crate::report::{FlowReport, Series};
use crate::source::Source;
use knee_laws::quantities::Time;
use knee_laws::registry::Sender;
use knee_laws::sender::SenderLaw;
use std::ops::Range;

/// Ends a list of hops: the packet has reached its endpoint.
const END: u32 = u32::MAX;

/// A network and its state.
pub struct Simulation {
    now: Time,
    agenda: Agenda,
    links: Vec<Link>,
    /// Links whose laws tell flows apart.
    telling: Vec<u32>,
    /// Links of all routes, one route after the other, each closed by [`END`].
    hops: Vec<u32>,
    flows: Vec<Flow>,
    receivers: Vec<Receiver>,
    groups: Vec<Transport>,
    /// The index of each component of the configuration.
    numbering: Numbering,
    sources: Vec<Source>,
    aggregates: Vec<Aggregate>,
    media: Vec<Medium>,
    stations: Vec<Station>,
    /// The station that a link leads to, [`END`] if none.
    entries: Vec<u32>,
    /// Slots of the flows that carry aggregates, in the order of the aggregates.
    carriers: Range<u32>,
    /// Slots whose flow is done and whose last packet has left the network.
    free: Vec<u32>,
    /// Number of configured flows. Others come from sources, or join.
    configured: usize,
    /// Numbers and slots of the flows that have joined.
    joined: Vec<(u32, u32)>,
    /// Names of the groups, and the number of flows that each has had, without arrivals of sources.
    members: Vec<(String, u64)>,
    arrived: u32,
    done: Vec<FlowReport>,
    probes: Vec<Probe>,
    series: Series,
    /// What each configured flow's receiver had received when the throughput probe last asked.
    probed: Vec<u32>,
    warmup: Time,
    end: Time,
    seed: u64,
    /// The work that a call of [`Simulation::run_some`] may still do. It ends when this is below 0.
    left: i64,
    /// The flow whose burst was cut by that end. It goes on before any other event.
    cut: Option<u32>,
    /// Packets that links have transmitted.
    packets: u64,
    /// Why the run has ended early.
    failure: Option<Failure>,
}

impl Simulation {
    fn schedule_some(&mut self, at: Option<Time>, kind: Kind, index: u32) {
        if let Some(at) = at.filter(|at| *at != Time::NEVER) {
            self.agenda.schedule(at, Event::new(kind, index));
        }
    }

    /// Runs every event up to and including `until`. After a failure nothing happens any more.
    pub fn run_until(&mut self, until: Time) -> Result<(), Failure> {
        while !self.run_some(until, u64::MAX)? {}
        Ok(())
    }

    /// Runs events up to and including `until`, but stops after about this much work. An event counts 1, and so does each
    /// packet that a flow sends, and each link or flow that a probe samples. Returns whether no event is left. Results
    /// do not depend on where the work is cut.
    pub fn run_some(&mut self, until: Time, work: u64) -> Result<bool, Failure> {
        let is_done = self.take_events(until, work);
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        #[cfg(debug_assertions)]
        if is_done {
            self.audit();
        }
        Ok(is_done)
    }

    #[inline(never)]
    fn take_events(&mut self, until: Time, work: u64) -> bool {
        self.left = i64::try_from(work).unwrap_or(i64::MAX);
        if let Some(slot) = self.cut.take() {
            self.pump(slot);
        }
        loop {
            self.left -= 1;
            if self.left < 0 {
                return false;
            }
            let Some((at, event)) = self.agenda.take(until) else {
                self.now = self.now.max(until);
                return true;
            };
            self.now = at;
            let index = event.index();
            match event.kind() {
                Kind::Line => self.cross(index),
                Kind::Served => self.serve(index),
                Kind::Tick => self.tick(index),
                Kind::Change => self.change_link(index),
                Kind::Start => self.start(index),
                Kind::Stop => self.stop(index),
                Kind::Timeout => self.timer(index),
                Kind::Pace => {
                    self.flows[index as usize].pace_set = false;
                    self.pump(index);
                    self.release(index);
                }
                Kind::Wake => self.wake(index),
                Kind::DelayedAck => {
                    let receiver = &mut self.receivers[index as usize];
                    let options = &self.groups[receiver.group.0 as usize];
                    match receiver.expire(options) {
                        Some(ack) => self.send_ack(index, ack),
                        None => self.release(index),
                    }
                }
                Kind::Arrival => self.arrive(index),
                Kind::Medium => self.air(index),
                Kind::Probe => self.probe(index),
                Kind::Warmup => self.warm(),
                Kind::Late => {
                    if let Some(packet) = self.links[index as usize].take_late() {
                        self.reach(packet);
                    }
                }
            }
        }
    }

    /// The simulated time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Ends the run with a failure.
    #[cold]
    fn fail(&mut self, failure: Failure) {
        self.agenda = Agenda::default();
        self.failure.get_or_insert(failure);
    }

    /// The head of a line reaches the far end: the next link or the endpoint takes it.
    #[inline]
    fn cross(&mut self, link: u32) {
        let line = &mut self.links[link as usize].line;
        let Some(packet) = line.pop() else { return };
        if let Some(head) = line.front() {
            self.agenda.schedule(head.at, Event::new(Kind::Line, link));
        }
        self.reach(packet);
    }

    /// A packet is at the far end of a link.
    #[inline(always)]
    fn reach(&mut self, mut packet: Packet) {
        let hop = packet.hop + 1;
        let next = self.hops[hop as usize];
        if next != END {
            self.offer(next, &mut packet, hop);
        } else if !packet.is_forward() {
            self.acknowledge(&packet);
        } else if packet.is_carrier() {
            self.decapsulate(&packet);
        } else {
            self.receive(&packet);
        }
    }

    /// Offers a packet to the link that is its hop `hop`. That number is passed beside the packet, and written into it
    /// only where the packet is stored.
    #[inline(always)]
    fn offer(&mut self, link: u32, packet: &mut Packet, hop: u32) {
        let outcome = self.links[link as usize].offer(packet, hop, self.now);
        self.settle(link, packet, hop, outcome);
    }

    #[inline(always)]
    fn settle(&mut self, link: u32, packet: &mut Packet, hop: u32, outcome: Outcome) {
        match outcome {
            Outcome::Launched => self.forward(link, packet, hop),
            Outcome::Exposed => self.expose(link, packet, hop),
            Outcome::Waiting => {}
            Outcome::Asking => self.ask(link),
            Outcome::Overfull => self.evict(link),
            Outcome::Serving(until) => {
                self.agenda.schedule(until, Event::new(Kind::Served, link));
                if self.links[link as usize].is_impaired {
                    self.expose(link, packet, hop);
                } else {
                    self.forward(link, packet, hop);
                }
            }
            Outcome::Dropped => self.refuse(link, packet),
        }
    }

    /// A link has launched a packet. It goes on that link's line, or, if links that are known ahead follow, on the line
    /// of the last of these.
    #[inline(always)]
    fn forward(&mut self, link: u32, packet: &Packet, hop: u32) {
        let at = self.links[link as usize].arrival();
        self.forward_at((link, hop), packet, at);
    }

    /// The same for a packet that reaches the far end of the link at `at`.
    #[inline(always)]
    fn forward_at(&mut self, (mut link, mut hop): (u32, u32), packet: &Packet, mut at: Time) {
        loop {
            self.packets += 1;
            let next = self.hops[hop as usize + 1];
            let Some(ahead) = self.links.get_mut(next as usize).filter(|link| link.known_ahead)
            else {
                break;
            };
            hop += 1;
            ahead.launch(packet.size, at);
            at = ahead.arrival();
            link = next;
        }
        if self.links[link as usize].push(packet, hop, at) {
            self.agenda.schedule(at, Event::new(Kind::Line, link));
        }
    }

    /// Applies random loss and reordering to a packet that a link has launched.
    #[cold]
    fn expose(&mut self, link: u32, packet: &mut Packet, hop: u32) {
        packet.hop = hop;
        packet.at = self.links[link as usize].arrival();
        match self.links[link as usize].impair(packet) {
            Fate::Fine => return self.forward(link, packet, hop),
            Fate::Lost => self.drop(packet),
            Fate::Late(_) => self.agenda.schedule(packet.at, Event::new(Kind::Late, link)),
        }
        self.packets += 1;
    }

    fn serve(&mut self, link: u32) {
        while let Some((mut packet, outcome)) = self.links[link as usize].serve(self.now) {
            let hop = packet.hop;
            self.settle(link, &mut packet, hop, outcome);
            if outcome != Outcome::Dropped {
                break;
            }
        }
    }

    #[cold]
    fn evict(&mut self, link: u32) {
        while let Some(packet) = self.links[link as usize].evict(self.now) {
            self.drop(&packet);
        }
        self.ask(link);
    }

    /// A packet waits at a link that an aggregate or a station serves.
    #[cold]
    #[inline(never)]
    fn ask(&mut self, link: u32) {
        let Link { service, server, .. } = self.links[link as usize];
        match service {
            Service::Own => {}
            Service::Aggregate => self.pump(self.carrier(server)),
            Service::Medium => self.contend(server),
        }
    }

    /// A link drops a packet, or its law has failed.
    #[cold]
    #[inline(never)]
    fn refuse(&mut self, link: u32, packet: &Packet) {
        self.drop(packet);
        self.watch_router(link);
    }

    /// Ends the run if the law of a link has failed.
    #[inline(never)]
    fn watch_router(&mut self, link: u32) {
        if let Some(message) = self.links[link as usize].failure() {
            let (at, message) = (self.now, message.to_owned());
            let link = self.numbering.link(link);
            self.fail(Failure::Router { link, at, message });
        }
    }

    /// Ends the run if the law of a flow has failed.
    #[inline(always)]
    fn watch_sender(&mut self, slot: u32) {
        if let Some(message) = self.flows[slot as usize].law.failure() {
            let message = message.to_owned();
            self.fail_flow(slot, message);
        }
    }

    #[cold]
    fn fail_flow(&mut self, slot: u32, message: String) {
        let Flow { number, group, .. } = self.flows[slot as usize];
        self.fail(Failure::Sender { flow: number, group, at: self.now, message });
    }

    fn drop(&mut self, packet: &Packet) {
        if packet.is_carrier() {
            self.drop_inner(packet);
        }
        let flow = &mut self.flows[packet.flow as usize];
        if packet.is_forward() {
            flow.dropped += 1;
        } else {
            flow.acks_dropped += 1;
        }
        self.release(packet.flow);
    }

    /// A data packet reaches its receiver.
    #[inline(always)]
    fn receive(&mut self, packet: &Packet) {
        let slot = packet.flow as usize;
        let receiver = &mut self.receivers[slot];
        let options = &self.groups[receiver.group.0 as usize];
        match receiver.take(packet, options, self.now) {
            Answer::Now(ack) => self.send_ack(packet.flow, ack),
            Answer::Later(at) => {
                self.agenda.schedule(at, Event::new(Kind::DelayedAck, packet.flow));
            }
            Answer::Waiting => {}
        }
    }

    #[inline]
    fn send_ack(&mut self, slot: u32, mut ack: Packet) {
        let hop = self.receivers[slot as usize].first_hop;
        self.offer(self.hops[hop as usize], &mut ack, hop);
    }

    /// An ACK reaches its sender.
    #[inline]
    fn acknowledge(&mut self, packet: &Packet) {
        let slot = packet.flow;
        let flow = &mut self.flows[slot as usize];
        let options = &self.groups[flow.group.0 as usize];
        flow.take_ack(packet, options, self.now);
        if let Some(message) = flow.law.failure() {
            let message = message.to_owned();
            return self.fail_flow(slot, message);
        }
        if flow.is_done() {
            self.complete(slot);
        } else {
            self.pump(slot);
        }
    }

    /// Lets a flow send what it may, and updates its timers. It must be the last step of an event.
    #[inline]
    fn pump(&mut self, slot: u32) {
        if self.carriers.contains(&slot) {
            return self.send_carriers(slot);
        }
        loop {
            let flow = &mut self.flows[slot as usize];
            let options = &self.groups[flow.group.0 as usize];
            match flow.turn(slot, options, self.now) {
                Turn::Send(mut packet) => {
                    let hop = flow.first_hop;
                    self.offer(self.hops[hop as usize], &mut packet, hop);
                    self.left -= 1;
                    if self.left < 0 {
                        self.cut = Some(slot);
                        return;
                    }
                }
                Turn::Pace(at) => {
                    self.pace(slot, at);
                    break;
                }
                Turn::Hold => break,
                Turn::Exhausted => {
                    self.exhaust(slot);
                    break;
                }
            }
        }
        self.keep_timers(slot);
    }

    /// A flow has no sequence numbers left.
    #[cold]
    fn exhaust(&mut self, slot: u32) {
        self.fail(Failure::Exhausted { flow: self.flows[slot as usize].number, at: self.now });
    }

    /// A flow may send again at this instant.
    #[inline(always)]
    fn pace(&mut self, slot: u32, at: Time) {
        let flow = &mut self.flows[slot as usize];
        if !flow.pace_set {
            flow.pace_set = true;
            self.agenda.schedule(at, Event::new(Kind::Pace, slot));
        }
    }

    #[inline(always)]
    fn keep_timers(&mut self, slot: u32) {
        let flow = &mut self.flows[slot as usize];
        if !flow.timer_set && flow.timeout_at != Time::NEVER {
            flow.timer_set = true;
            self.agenda.schedule(flow.timeout_at, Event::new(Kind::Timeout, slot));
        }
        if let Some(at) = flow.law.wake_at()
            && at < flow.wake_set
        {
            flow.wake_set = at;
            self.agenda.schedule(at.max(self.now), Event::new(Kind::Wake, slot));
        }
    }

    /// The event of a flow's timer is due. The timer itself may have moved to a later instant.
    #[inline(never)]
    fn timer(&mut self, slot: u32) {
        let flow = &mut self.flows[slot as usize];
        flow.timer_set = false;
        if flow.timeout_at == Time::NEVER {
            return self.release(slot);
        }
        if flow.timeout_at > self.now {
            flow.timer_set = true;
            self.agenda.schedule(flow.timeout_at, Event::new(Kind::Timeout, slot));
            return;
        }
        flow.time_out(&self.groups[flow.group.0 as usize], self.now);
        self.watch_sender(slot);
        self.pump(slot);
    }

    #[inline(never)]
    fn wake(&mut self, slot: u32) {
        let flow = &mut self.flows[slot as usize];
        flow.wake_set = Time::NEVER;
        if flow.completed != Time::NEVER {
            return self.release(slot);
        }
        if flow.law.wake_at().is_some_and(|at| at <= self.now) {
            flow.law.on_wake(self.now);
            self.watch_sender(slot);
        }
        self.pump(slot);
    }

    #[inline(never)]
    fn start(&mut self, slot: u32) {
        self.flows[slot as usize].started = true;
        self.pump(slot);
    }

    /// The flow sends no more new data. It still repairs losses of what it has sent.
    #[inline(never)]
    fn stop(&mut self, slot: u32) {
        let flow = &mut self.flows[slot as usize];
        flow.limit = flow.limit.min(flow.board.next());
        if flow.is_done() {
            self.complete(slot);
        }
    }

    fn complete(&mut self, slot: u32) {
        if self.carriers.contains(&slot) {
            return; // more may come
        }
        let flow = &mut self.flows[slot as usize];
        if flow.completed == Time::NEVER {
            flow.completed = self.now;
            flow.timeout_at = Time::NEVER;
        }
        self.release(slot);
    }

    /// Frees the slot of a source's flow that is done, once none of its packets is under way.
    #[inline]
    fn release(&mut self, slot: u32) {
        let (flow, receiver) = (&self.flows[slot as usize], &self.receivers[slot as usize]);
        if flow.completed == Time::NEVER || (slot as usize) < self.configured {
            return;
        }
        let quiet = flow.sent == receiver.received + flow.dropped
            && receiver.acks == flow.acks_received + flow.acks_dropped
            && !(flow.timer_set || flow.pace_set || receiver.is_timing())
            && flow.wake_set == Time::NEVER;
        if quiet {
            let report = self.flow_report(slot);
            self.done.push(report);
            self.free.push(slot);
            self.flows[slot as usize].started = false;
        }
    }

    /// A source's flow arrives.
    #[inline(never)]
    fn arrive(&mut self, index: u32) {
        let source = &mut self.sources[index as usize];
        let (law, group, packets) = (source.law(), source.group, source.draw_size());
        let identity = source.next_identity();
        let (forward, backward) = source.next_route();
        let next = source.next_arrival(self.now);
        self.schedule_some(next, Kind::Arrival, index);
        let slot = self.take_in((law, group), (forward, backward));
        let first = self.groups[group.0 as usize].first_data();
        self.flows[slot as usize].limit = end_of(packets, first);
        self.name_flow(slot, identity);
        self.start(slot);
    }

    /// Finds a slot for a new flow, and gives it the next number.
    fn take_in(&mut self, (law, group): (Sender, GroupId), (forward, backward): (u32, u32)) -> u32 {
        let slot = self.free.pop().unwrap_or(self.flows.len() as u32);
        self.place(slot, law, group);
        let flow = &mut self.flows[slot as usize];
        flow.number = self.configured as u32 + self.arrived;
        self.arrived += 1;
        flow.first_hop = forward;
        flow.start = self.now;
        self.receivers[slot as usize].first_hop = backward;
        slot
    }

    #[inline(never)]
    fn tick(&mut self, index: u32) {
        let link = &mut self.links[index as usize];
        link.tick(self.now);
        let next = link.tick_at();
        self.schedule_some(next, Kind::Tick, index);
        self.watch_router(index);
    }
}

/// Bytes of a flow at both of its ends.
pub const FLOW_BYTES: usize = size_of::<Flow>() + size_of::<Receiver>();

const _: () = assert!(FLOW_BYTES < 1024, "a million concurrent flows fit into a gigabyte");
