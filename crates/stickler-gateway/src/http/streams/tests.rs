//! Readers that go and come back.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests are blunt")]

use super::*;

fn message(text: &'static str) -> Parcel {
    Parcel::Message(Bytes::from_static(text.as_bytes()))
}

fn last(text: &'static str) -> Parcel {
    Parcel::Last(Bytes::from_static(text.as_bytes()))
}

/// What a reader gets now: the messages, and whether that is all.
fn read(streams: &mut Streams, reader: (u64, u64)) -> (Vec<String>, bool) {
    let mut context = Context::from_waker(Waker::noop());
    let mut messages = Vec::new();
    loop {
        match streams.poll(reader, &mut context) {
            Poll::Ready(Some(event)) => messages.extend(data(&[event])),
            Poll::Ready(None) => return (messages, true),
            Poll::Pending => return (messages, false),
        }
    }
}

fn data(events: &[Bytes]) -> Vec<String> {
    let all = String::from_utf8(events.concat()).unwrap();
    all.lines().filter_map(|line| line.strip_prefix("data: ")).map(str::to_owned).collect()
}

/// A POST that has become a stream.
fn begun(streams: &mut Streams) -> (mpsc::Sender<Parcel>, (u64, u64)) {
    let (sender, receiver) = mpsc::channel(UNREAD);
    let begun = streams.begin(7, Some(sender.clone()), receiver, &["first".into()]);
    assert_eq!(begun.events, ["id: t-7-1\nevent: message\ndata: first\n\n"]);
    (sender, begun.live.unwrap())
}

#[test]
fn what_a_reader_leaves_unread_is_for_the_next() {
    let mut streams = Streams::new("t".into());
    let (sender, reader) = begun(&mut streams);
    sender.try_send(message("two")).unwrap();
    assert_eq!(read(&mut streams, reader), (vec!["two".into()], false));
    sender.try_send(message("three")).unwrap();
    streams.leave(reader);
    assert!(sender.is_closed() && !streams.is_read());
    assert!(matches!(streams.take_back(7, last("four")), Unread::Kept));
    let rest = streams.take_up("t-7-2").unwrap();
    assert_eq!(
        (data(&rest.events), rest.live, rest.has_gap),
        (vec!["three".into(), "four".into()], None, false)
    );
    let all = streams.take_up("t-7-0").unwrap();
    assert_eq!(data(&all.events), ["first", "two", "three", "four"]);
}

#[test]
fn whoever_comes_back_takes_the_place_of_the_one_before() {
    let mut streams = Streams::new("t".into());
    let (sender, reader) = begun(&mut streams);
    sender.try_send(message("two")).unwrap();
    let again = streams.take_up("t-7-1").unwrap();
    assert_eq!(data(&again.events), ["two"]);
    assert_eq!(read(&mut streams, reader), (vec![], true));
    streams.leave(reader);
    // An answer that was on its way to the one before is given to the new one.
    let Unread::HandOver(sender, parcel) = streams.take_back(7, last("three")) else { panic!() };
    sender.try_send(parcel).unwrap();
    assert_eq!(read(&mut streams, again.live.unwrap()), (vec!["three".into()], true));
}

#[test]
fn a_stream_that_is_over_is_known_as_long_as_it_is_kept() {
    let mut streams = Streams::new("t".into());
    let (sender, reader) = begun(&mut streams);
    sender.try_send(last("two")).unwrap();
    assert_eq!(read(&mut streams, reader), (vec!["two".into()], true));
    assert!(streams.knows(7));
    for _ in 0..1000 {
        streams.keep(LISTENER, &"x".into());
    }
    assert!(!streams.knows(7) && streams.take_up("t-7-1").is_none());
    assert_eq!(streams.take_lost(), 1000 - 256);
    let late = streams.take_up("t-0-3").unwrap();
    assert_eq!((late.events.len(), late.has_gap), (256, true));
}

#[test]
fn a_stream_that_is_wound_up_gives_what_is_on_its_way() {
    let mut streams = Streams::new("t".into());
    let (sender, reader) = begun(&mut streams);
    sender.try_send(message("two")).unwrap();
    streams.wind_up(7);
    drop(sender);
    assert_eq!(read(&mut streams, reader), (vec!["two".into()], true));
    assert!(streams.take_up("t-7-2").unwrap().live.is_none());
    // The same where nothing was said, and its reader has not seen the end yet.
    let (sender, receiver) = mpsc::channel(UNREAD);
    streams.begin(8, Some(sender), receiver, &[]);
    streams.wind_up(8);
    assert!(streams.take_up("t-8-0").unwrap().live.is_none());
    assert!(!streams.knows(8));
}

#[test]
fn a_listener_without_an_id_gets_what_nobody_has_read() {
    let mut streams = Streams::new("t".into());
    streams.keep(LISTENER, &"one".into());
    let first = streams.listen();
    assert_eq!((data(&first.events), first.has_gap), (vec!["one".into()], false));
    streams.live(LISTENER).unwrap().try_send(message("two")).unwrap();
    let second = streams.listen();
    assert_eq!(data(&second.events), ["two"]);
    assert_eq!(read(&mut streams, first.live.unwrap()), (vec![], true));
    streams.hang_up(LISTENER);
    assert_eq!(read(&mut streams, second.live.unwrap()), (vec![], true));
}
