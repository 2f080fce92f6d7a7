package api

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/present/feed"
	"company/internal/present/view"
)

// serveEvents streams the feed as server-sent events until the client disconnects. The id of a
// ledger event is its number, so a client that reconnects with Last-Event-ID misses no event.
// Other items have no id. Without Last-Event-ID the feed starts at ?from=, or at the first event.
// ?task= and ?run= select the events of a task or of a run, and ?kind= those of some kinds. ?until= ends the feed
// after an event, with a final event that marks the end.
func (s *Server) serveEvents(w http.ResponseWriter, r *http.Request) {
	of, err := rangeOf(r)
	if err == nil && of.Run != "" {
		err = s.requireRun(of)
	}
	if err != nil {
		writeError(w, err)
		return
	}
	s.streamEvents(w, r, of)
}

// serveRunEvents streams the events of a task, or of one run of an agent (UI-5).
func (s *Server) serveRunEvents(w http.ResponseWriter, r *http.Request) {
	of, err := rangeOf(r)
	of.Task = company.TaskID(r.PathValue("id"))
	if run := company.RunID(of.Task); run.Valid() {
		of.Task, of.Run = run.Task(), run
	}
	if err == nil {
		err = s.requireRun(of)
	}
	if err != nil {
		writeError(w, err)
		return
	}
	s.streamEvents(w, r, of)
}

// requireRun returns an error if the task of a range does not exist, or has no such run.
func (s *Server) requireRun(of feed.Range) error {
	src, err := s.office.Source().WithTarget(string(of.Task))
	if err != nil {
		return err
	}
	task, err := view.FindTask(src.State, string(of.Task))
	if err == nil && of.Run != "" && task.Runs[of.Run] == nil {
		return company.E(company.ENotFound, "there is no run "+safetext.EscapeLine(string(of.Run), 40))
	}
	return err
}

func (s *Server) streamEvents(w http.ResponseWriter, r *http.Request, of feed.Range) {
	stream := s.newStream(w)
	defer stream.closeStream()
	if err := stream.sendText(""); err != nil { // send the header now, since the first event may take long
		return
	}
	// The stream ends with the client or the server, which is not an error.
	err := s.office.Follow(r.Context(), of, func(item feed.Item) error {
		text, err := item.JSON()
		if err != nil {
			return err
		}
		text = s.secrets.MaskJSON(text)
		if item.Seq > 0 {
			return stream.sendText("id: %d\ndata: %s\n\n", item.Seq, text)
		}
		return stream.sendText("data: %s\n\n", text)
	})
	if err == nil && of.Until > 0 {
		stream.sendEnd()
	}
	s.writeFailure(stream, r, err)
}

// writeFailure ends a stream with the error that interrupted it, such as a full disk. The end of the
// server is no such error: the client may continue with the next process.
func (s *Server) writeFailure(stream *eventStream, r *http.Request, err error) {
	if r.Context().Err() == nil {
		stream.sendFailure(err)
	}
}

// failureLine starts the last event of a failed stream. Its data is a problem document.
const failureLine = "event: failure"

// rangeOf returns the part of the feed that a request selects.
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
		of.From = max(last, last+1) // no event follows the highest number
	}
	if err != nil {
		return of, company.E(company.EInvalid, "from, until and Last-Event-ID must be event numbers")
	}
	if of.Run = company.RunID(q.Get("run")); of.Run != "" {
		run := safetext.EscapeLine(q.Get("run"), 80)
		if !of.Run.Valid() {
			return of, company.E(company.EInvalid, fmt.Sprintf("invalid run id %q",
				run)).Fix("run ids look like t12-01.1")
		}
		if of.Task != "" && of.Task != of.Run.Task() {
			return of, company.E(company.EInvalid,
				run+" is a run of another task than "+safetext.EscapeLine(q.Get("task"), 80))
		}
		of.Task = of.Run.Task()
	}
	of.Kinds = q["kind"]
	for _, kind := range of.Kinds {
		if known := company.ListEventKinds(); !slices.Contains(known, kind) {
			return of, company.E(company.EInvalid, fmt.Sprintf("unknown kind of events %q", safetext.EscapeLine(kind,
				80))).
				Fix("the kinds are " + strings.Join(known, ", "))
		}
	}
	return of, nil
}

// readEvents reads the items of a stream until it ends. The stream may be cut in the middle of an
// item if the other process died.
func readEvents(stream io.Reader, fn func(feed.Item) error) error {
	return readStream(stream, func(data []byte) error {
		var item feed.Item
		if json.Unmarshal(data, &item) != nil {
			return io.EOF
		}
		return fn(item)
	})
}

// errStreamEnd marks the end of a complete stream.
var errStreamEnd = errors.New("api: the stream is whole")

// maxEvent limits one event of a stream, in bytes. A tool call may have 1 MiB of arguments, and
// JSON escapes them.
const maxEvent = 32 << 20

// readStream reads the data of a stream's events. It returns errStreamEnd for a complete stream,
// and io.EOF for a cut one.
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
			var problem Problem
			if json.Unmarshal(data, &problem) != nil {
				break
			}
			return problem.AsError()
		}
		if err := fn(data); err != nil {
			return err
		}
	}
	return io.EOF
}
