//! Readers that disconnect and resume.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]

use crate::event_store::streams::*;

fn message(text: &'static str) -> Delivery {
    Delivery::Message(text.into())
}

fn last(text: &'static str) -> Delivery {
    Delivery::Last(text.into())
}

/// Returns the messages that a reader receives now, and whether the stream has ended.
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

/// Opens the stream of a POST.
fn open_post_stream(streams: &mut Streams) -> (mpsc::Sender<Delivery>, (u64, u64)) {
    let (sender, receiver) = mpsc::channel(READER_QUEUE_CAPACITY);
    let opened = streams.open(7, Some(sender.clone()), receiver, &["first".into()]);
    assert_eq!(opened.events, ["id: t-7-1\nevent: message\ndata: first\n\n"]);
    (sender, opened.live.unwrap())
}

#[test]
fn resumed_stream_contains_the_undelivered_messages() {
    let mut streams = Streams::new("t".into());
    let (sender, reader) = open_post_stream(&mut streams);
    sender.try_send(message("two")).unwrap();
    assert_eq!(read(&mut streams, reader), (vec!["two".into()], false));
    sender.try_send(message("three")).unwrap();
    streams.leave(reader);
    assert!(sender.is_closed() && !streams.is_read());
    assert!(matches!(streams.reclaim(7, last("four")), Undelivered::Stored));
    let rest = streams.resume("t-7-2").unwrap();
    assert_eq!(
        (data(&rest.events), rest.live, rest.has_gap),
        (vec!["three".into(), "four".into()], None, false)
    );
    let all = streams.resume("t-7-0").unwrap();
    assert_eq!(data(&all.events), ["first", "two", "three", "four"]);
}

#[test]
fn new_reader_replaces_the_previous_one() {
    let mut streams = Streams::new("t".into());
    let (sender, reader) = open_post_stream(&mut streams);
    sender.try_send(message("two")).unwrap();
    let again = streams.resume("t-7-1").unwrap();
    assert_eq!(data(&again.events), ["two"]);
    assert_eq!(read(&mut streams, reader), (vec![], true));
    streams.leave(reader);
    // A response that was being sent to the previous reader is sent to the new one.
    let Undelivered::Redeliver(sender, delivery) = streams.reclaim(7, last("three")) else {
        panic!()
    };
    sender.try_send(delivery).unwrap();
    assert_eq!(read(&mut streams, again.live.unwrap()), (vec!["three".into()], true));
}

#[test]
fn ended_stream_is_resumable_while_its_events_are_stored() {
    let mut streams = Streams::new("t".into());
    let (sender, reader) = open_post_stream(&mut streams);
    sender.try_send(last("two")).unwrap();
    assert_eq!(read(&mut streams, reader), (vec!["two".into()], true));
    assert!(streams.contains(7));
    for _ in 0..1000 {
        streams.store(STANDALONE_STREAM, &"x".into());
    }
    assert!(!streams.contains(7) && streams.resume("t-7-1").is_none());
    assert_eq!(streams.take_lost(), 1000 - 256);
    let late = streams.resume("t-0-3").unwrap();
    assert_eq!((late.events.len(), late.has_gap), (256, true));
}

#[test]
fn finished_stream_delivers_queued_messages() {
    let mut streams = Streams::new("t".into());
    let (sender, reader) = open_post_stream(&mut streams);
    sender.try_send(message("two")).unwrap();
    streams.finish(7);
    drop(sender);
    assert_eq!(read(&mut streams, reader), (vec!["two".into()], true));
    assert!(streams.resume("t-7-2").unwrap().live.is_none());
    // The same for a stream without messages whose reader has not seen the end yet.
    let (sender, receiver) = mpsc::channel(READER_QUEUE_CAPACITY);
    streams.open(8, Some(sender), receiver, &[]);
    streams.finish(8);
    assert!(streams.resume("t-8-0").unwrap().live.is_none());
    assert!(!streams.contains(8));
}

#[test]
fn standalone_stream_without_an_id_starts_with_unread_messages() {
    let mut streams = Streams::new("t".into());
    streams.store(STANDALONE_STREAM, &"one".into());
    let first = streams.listen();
    assert_eq!((data(&first.events), first.has_gap), (vec!["one".into()], false));
    streams.live(STANDALONE_STREAM).unwrap().try_send(message("two")).unwrap();
    let second = streams.listen();
    assert_eq!(data(&second.events), ["two"]);
    assert_eq!(read(&mut streams, first.live.unwrap()), (vec![], true));
    streams.close_reader(STANDALONE_STREAM);
    assert_eq!(read(&mut streams, second.live.unwrap()), (vec![], true));
}
