package adaptertest

import (
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"company/internal/adapters"
)

// hostileCases are replies of a server that is out to cost its client memory or time.
func hostileCases(w Wire) []Case {
	repeated := func(n int, piece func(i int) string) http.HandlerFunc {
		return func(rw http.ResponseWriter, r *http.Request) {
			w.Begun(rw, r)
			for i := range n {
				if _, err := rw.Write([]byte(piece(i))); err != nil {
					return // the client has gone
				}
			}
			holdConnection(r)
		}
	}
	return []Case{
		{Name: "calls without an end", Serve: repeated(1<<20, func(i int) string { return w.Call(i, "", "f") }), Options: Patient, Kind: adapters.MalformedReply, Unanswered: true, Says: "larger"},
		{Name: "a million calls", Serve: repeated(1<<20, func(i int) string { return w.Call(i, fmt.Sprint("c", i), "f") }), Options: Patient, Kind: adapters.MalformedReply, Unanswered: true, Says: "larger"},
		{Name: "names of calls without an end", Options: Patient, Kind: adapters.MalformedReply, Unanswered: true, Says: "larger",
			Serve: repeated(64, func(i int) string { return w.Call(i, strings.Repeat("c", 1<<20), fmt.Sprint("f", i)) })},
		{Name: "ids that were made for others", Serve: func(rw http.ResponseWriter, r *http.Request) {
			w.Begun(rw, r)
			for i := range 200 {
				_, _ = rw.Write([]byte(w.Call(2*i, fmt.Sprintf("call_1_%d", 201+i), "f")))
				_, _ = rw.Write([]byte(w.Call(2*i+1, "", "f")))
			}
			w.End(rw, r)
		}, Check: func(t *testing.T, r adapters.Response) {
			ids := map[string]bool{}
			for _, c := range r.Message.ToolCalls {
				ids[c.ID] = true
			}
			if len(r.Message.ToolCalls) != 400 || len(ids) != 400 || ids[""] {
				t.Errorf("%d calls, %d ids", len(r.Message.ToolCalls), len(ids))
			}
		}},
		{Name: "10 MB, compressed", Kind: adapters.MalformedReply, Unanswered: true, Says: "larger", Serve: func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(rw)
			w.Pieces(11<<4, strings.Repeat("x", 64<<10))(&compressed{rw, z}, r)
			_ = z.Close()
		}},
		{Name: "a flood of headers", Kind: adapters.Unreachable, Unanswered: true, Serve: func(rw http.ResponseWriter, r *http.Request) {
			for i := range 11 << 4 {
				rw.Header().Set(fmt.Sprint("X-", i), strings.Repeat("x", 64<<10))
			}
			w.Whole(rw, r)
		}},
	}
}

// compressed is an answer whose body is compressed.
type compressed struct {
	http.ResponseWriter
	z *gzip.Writer
}

func (c *compressed) Write(p []byte) (int, error) { return c.z.Write(p) }
