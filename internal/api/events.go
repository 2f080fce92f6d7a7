package api

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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
// first event.
func (s *Server) serveEvents(w http.ResponseWriter, r *http.Request) {
	from, err := firstEvent(r)
	if err != nil {
		writeError(w, company.E(company.EInvalid, "from and Last-Event-ID are numbers of events"))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w)
	if err := flush.Flush(); err != nil {
		return
	}
	// It ends with the client or with the office: both are no error here. But an
	// office without a company at work ends with a failure only.
	err = s.office.Follow(r.Context(), from, func(it feed.Item) error {
		text, err := json.Marshal(it)
		if err != nil {
			return err
		}
		if it.Seq > 0 {
			_, err = fmt.Fprintf(w, "id: %d\ndata: %s\n\n", it.Seq, text)
		} else {
			_, err = fmt.Fprintf(w, "data: %s\n\n", text)
		}
		if err != nil {
			return err
		}
		return flush.Flush()
	})
	s.writeFailure(w, r, err)
}

// writeFailure ends a stream with the error that broke it off, where no company is at
// work that another could take over from.
func (s *Server) writeFailure(w http.ResponseWriter, r *http.Request, err error) {
	if e := (*company.Error)(nil); !s.atWork && errors.As(err, &e) && r.Context().Err() == nil {
		if text, err := json.Marshal(problemOf(e)); err == nil {
			_, _ = fmt.Fprintf(w, "%s\ndata: %s\n\n", failureLine, text) // the client is gone, or it has it
		}
	}
}

// failureLine begins the last event of a stream that failed; its data is a problem
// document.
const failureLine = "event: failure"

func firstEvent(r *http.Request) (uint64, error) {
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		n, err := strconv.ParseUint(last, 10, 64)
		return n + 1, err
	}
	from := r.URL.Query().Get("from")
	if from == "" {
		return 1, nil
	}
	return strconv.ParseUint(from, 10, 64)
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
			var p problem
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
