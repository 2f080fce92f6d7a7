package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"company/internal/agent"
	"company/internal/company"
)

// endLine starts the last event of a complete transcript.
const endLine = "event: end"

// serveTranscript streams the entries of a run's transcript as server-sent events: with
// ?visibility=full all of them, otherwise the summary. With
// ?follow=true it continues until the run ends. The last event is end, and a stream without it was
// cut.
func (s *Server) serveTranscript(w http.ResponseWriter, r *http.Request) {
	stream := s.newStream(w)
	defer stream.closeStream()
	follow := r.URL.Query().Get("follow") == "true"
	visibility := agent.ParseVisibility(r.URL.Query().Get("visibility"))
	err := s.office.StreamTranscript(
		r.Context(), company.RunID(r.PathValue("id")), follow, func(e agent.TranscriptEntry) error {
			if !visibility.Shows(e) {
				return nil
			}
			if e.Output != nil && len(e.Output.Lines) > 0 { // a private key has many lines
				output := *e.Output
				output.Lines = strings.Split(s.secrets.Mask(strings.Join(output.Lines, "\n")), "\n")
				e.Output = &output
			}
			text, err := json.Marshal(e)
			if err != nil {
				return err
			}
			return stream.sendText("data: %s\n\n", s.secrets.MaskJSON(text))
		})
	switch {
	case err == nil:
		stream.sendEnd()
	case !stream.hasBegun():
		writeError(w, orEnding(r, err))
	default:
		s.writeFailure(stream, r, err)
	}
}

// StreamTranscript reads all entries of a run's transcript. With follow it continues until the run
// ends. It returns io.EOF if the other process ends first.
func (c *Client) StreamTranscript(
	ctx context.Context, run company.RunID, follow bool, fn func(agent.TranscriptEntry) error,
) error {
	path := fmt.Sprintf("/api/v1/runs/%s/transcript?visibility=full&follow=%t", url.PathEscape(string(run)), follow)
	return readEntries(ctx, c, path, fn)
}

// readEntries reads a stream that ends with an end event. It returns io.EOF if the stream was cut.
func readEntries[T any](ctx context.Context, c *Client, path string, fn func(T) error) error {
	resp, err := c.sendRequest(ctx, c.currentConnection(), http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return readError(resp)
	}
	err = readStream(resp.Body, func(data []byte) error {
		var e T
		if json.Unmarshal(data, &e) != nil {
			return io.EOF
		}
		return fn(e)
	})
	switch {
	case errors.Is(err, errStreamEnd):
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return err
}
