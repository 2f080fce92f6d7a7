package adaptertest

import (
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"company/internal/adapters"
)

// hostileCases returns replies of a server that tries to waste its client's memory or time.
func hostileCases(wire Wire) []Case {
	repeated := func(n int, piece func(i int) string) http.HandlerFunc {
		return func(rw http.ResponseWriter, r *http.Request) {
			wire.Begun(rw, r)
			for i := range n {
				if _, err := rw.Write([]byte(piece(i))); err != nil {
					return // the client is gone
				}
			}
			holdConnection(r)
		}
	}
	return []Case{
		{Name: "calls without an end", Flood: true,
			Serve:   repeated(1<<20, func(i int) string { return wire.Call(i, "", "f") }),
			Options: Patient, Kind: adapters.MalformedReply, Unanswered: true, Says: "larger"},
		{Name: "a million calls", Flood: true,
			Serve: repeated(1<<20, func(i int) string { return wire.Call(i, fmt.Sprint("c", i), "f") }), Options: Patient,
			Kind: adapters.MalformedReply, Unanswered: true, Says: "larger"},
		{Name: "names of calls without an end", Flood: true, Options: Patient, Kind: adapters.MalformedReply,
			Unanswered: true, Says: "larger",
			Serve: repeated(64, func(i int) string { return wire.Call(i, strings.Repeat("c", 1<<20), fmt.Sprint("f", i)) })},
		{Name: "ids that were made for others", Serve: func(rw http.ResponseWriter, r *http.Request) {
			wire.Begun(rw, r)
			for i := range 200 {
				_, _ = rw.Write([]byte(wire.Call(2*i, fmt.Sprintf("call_1_%d", 201+i), "f")))
				_, _ = rw.Write([]byte(wire.Call(2*i+1, "", "f")))
			}
			wire.End(rw, r)
		}, Check: func(t *testing.T, response adapters.Response) {
			ids := map[string]bool{}
			for _, c := range response.Message.ToolCalls {
				ids[c.ID] = true
			}
			if len(response.Message.ToolCalls) != 400 || len(ids) != 400 || ids[""] {
				t.Errorf("%d calls, %d ids", len(response.Message.ToolCalls), len(ids))
			}
		}},
		{Name: "10 MB, compressed", Flood: true, Kind: adapters.MalformedReply, Unanswered: true, Says: "larger",
			Serve: func(rw http.ResponseWriter, r *http.Request) {
				rw.Header().Set("Content-Encoding", "gzip")
				z := gzip.NewWriter(rw)
				wire.Pieces(11<<4, strings.Repeat("x", 64<<10))(&compressed{rw, z}, r)
				_ = z.Close()
			}},
		{Name: "a flood of headers", Flood: true, Kind: adapters.Unreachable, Unanswered: true,
			Serve: func(rw http.ResponseWriter, r *http.Request) {
				for i := range 11 << 4 {
					rw.Header().Set(fmt.Sprint("X-", i), strings.Repeat("x", 64<<10))
				}
				wire.Whole(rw, r)
			}},
	}
}

// compressed compresses the body of an answer.
type compressed struct {
	http.ResponseWriter
	z *gzip.Writer
}

func (c *compressed) Write(p []byte) (int, error) { return c.z.Write(p) }
