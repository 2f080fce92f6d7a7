package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"company/internal/company"
	"company/internal/engine/replay"
)

// serveRecord streams the record of a finished task as server-sent events. The last event is end,
// or failure with a problem document. A stream without either was cut.
func (s *Server) serveRecord(w http.ResponseWriter, r *http.Request) {
	stream := s.newStream(w)
	defer stream.closeStream()
	err := s.office.StreamRecord(r.Context(), company.TaskID(r.PathValue("id")), func(e replay.Entry) error {
		text, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if len(text) >= maxEvent-len("data: \n") {
			return company.E(company.EInvalid, fmt.Sprintf("a piece of the record is larger than %d MiB", maxEvent>>20)).
				Fix("replay another task")
		}
		return stream.sendText("data: %s\n\n", text)
	})
	switch {
	case err == nil:
		stream.sendEnd()
	case !stream.hasBegun():
		writeError(w, orEnding(r, err))
	default:
		stream.sendFailure(orEnding(r, err))
	}
}

// StreamRecord reads the record of a finished task for replay.Read. It returns EHeld if the other
// process ends first, and returns errors of fn unchanged.
func (c *Client) StreamRecord(ctx context.Context, id company.TaskID, fn func(replay.Entry) error) error {
	err := readEntries(ctx, c, "/api/v1/tasks/"+url.PathEscape(string(id))+"/record", fn)
	if errors.Is(err, io.EOF) && ctx.Err() == nil {
		return company.E(company.EHeld, "the record was cut off").Because("the process that holds the office has ended").
			Fix("try again")
	}
	return err
}
