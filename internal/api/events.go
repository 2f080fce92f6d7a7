package api

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"

	"company/internal/company"
	"company/internal/feed"
)

// serveEvents streams the feed as server-sent events until the client goes
// away. The id of an event of the ledger is its number, so that a client that
// comes back with Last-Event-ID misses none; what happens between two events
// has no id. Without Last-Event-ID the feed begins with ?from=, or with the
// first event. ?task= gives that task's events alone; ?until= ends the feed with an
// event, and with a last one that says so.
func (s *Server) serveEvents(w http.ResponseWriter, r *http.Request) {
	of, err := rangeOf(r)
	if err != nil {
		writeError(w, company.E(company.EInvalid, "from, until and Last-Event-ID are numbers of events"))
		return
	}
	stream := s.newStream(w)
	defer stream.closeStream()
	if err := stream.sendText(""); err != nil { // the head: the first event may take long
		return
	}
	// It ends with the client or with the office: both are no error here. But an
	// office without a company at work ends with a failure only.
	err = s.office.Follow(r.Context(), of, func(it feed.Item) error {
		text, err := it.JSON()
		if err != nil {
			return err
		}
		if it.Seq > 0 {
			return stream.sendText("id: %d\ndata: %s\n\n", it.Seq, text)
		}
		return stream.sendText("data: %s\n\n", text)
	})
	if err == nil && of.Until > 0 {
		stream.sendEnd()
	}
	s.writeFailure(stream, r, err)
}

// writeFailure ends a stream with the error that broke it off: where no company is at
// work that another could take over from, and where a stored record is damaged or missing,
// which another company would find as well.
func (s *Server) writeFailure(stream *eventStream, r *http.Request, err error) {
	code := company.CodeOf(err)
	if r.Context().Err() == nil && (!s.atWork || code == company.ENotFound || code == company.ELedger) {
		stream.sendFailure(err)
	}
}

// failureLine begins the last event of a stream that failed; its data is a problem
// document.
const failureLine = "event: failure"

// rangeOf is the part of the feed that a request asks for.
func rangeOf(r *http.Request) (of feed.Range, err error) {
	q := r.URL.Query()
	of.Task = company.TaskID(q.Get("task"))
	number := func(text string, otherwise uint64) uint64 {
		if text == "" || err != nil {
			return otherwise
		}
		var n uint64
		n, err = strconv.ParseUint(text, 10, 64)
		return n
	}
	of.From, of.Until = number(q.Get("from"), 1), number(q.Get("until"), 0)
	if last := number(r.Header.Get("Last-Event-ID"), 0); r.Header.Get("Last-Event-ID") != "" {
		of.From = max(last, last+1) // behind the last number of all there is none
	}
	return of, err
}

// readEvents reads the items of a stream until it ends, or is cut in the middle
// of one: the other process died.
func readEvents(stream io.Reader, fn func(feed.Item) error) error {
	return readStream(stream, func(data []byte) error {
		var it feed.Item
		if json.Unmarshal(data, &it) != nil {
			return io.EOF
		}
		return fn(it)
	})
}

// errStreamEnd is how a stream ends that says that it is whole.
var errStreamEnd = errors.New("api: the stream is whole")

// maxEvent bounds one event of a stream, in bytes: a tool call may have 1 MiB of
// arguments, and JSON escapes them.
const maxEvent = 32 << 20

// readStream reads the data of a stream's events: errStreamEnd when the stream says that
// it is whole, io.EOF when it is cut.
func readStream(stream io.Reader, fn func(data []byte) error) error {
	lines := bufio.NewScanner(stream)
	lines.Buffer(make([]byte, 64<<10), maxEvent)
	failed := false
	for lines.Scan() {
		if lines.Text() == endLine {
			return errStreamEnd
		}
		failed = failed || lines.Text() == failureLine
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !ok {
			continue
		}
		if failed {
			var p Problem
			if json.Unmarshal(data, &p) != nil {
				break
			}
			return p.asError()
		}
		if err := fn(data); err != nil {
			return err
		}
	}
	return io.EOF
}
