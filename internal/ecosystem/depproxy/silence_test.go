package depproxy

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// A registry that accepts a request and says nothing, or stops in the middle of a file,
// is given up after a while; others do not wait for it again, and the operator is told
// its name. One that answers meanwhile is waited for.
func TestSilentRegistry(t *testing.T) {
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		want  string
		lasts bool
	}{
		"says nothing": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			"accepts requests and does not answer within 200ms", false},
		"stops in the middle": {func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write([]byte(`{"name":`))
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, "accepts requests and does not answer within 200ms", false},
		"fails": {func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "no", http.StatusInternalServerError)
		}, "answers with status 500", false},
		"refuses the login": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusUnauthorized) },
			"answers with status 401", true},
		"hangs up": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			"cannot be reached: EOF", false},
		"does not exist": {nil, "cannot be reached: connection refused", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newFakeRegistry(t, c.serve)
			if c.serve == nil {
				r.Close()
			}
			up := upstreamsAt(NPM, r.URL)
			if strings.HasPrefix(c.want, "accepts") { // a busy machine may take longer for an answer that comes
				up.Patience = 200 * time.Millisecond
			}
			s := newStore(t, up)
			s.transport.outages.pause = 50 * time.Millisecond
			policy := NewPolicy()
			for _, name := range []string{"one", "two"} {
				policy.AllowWithNeeds(newDependency(NPM, name, ""))
			}
			var told []Failure
			h := s.NewHandler(HandlerOptions{Policy: policy, OnFailure: func(f Failure) { told = append(told, f) }})
			for _, name := range []string{"one", "two"} {
				if code, text := getPath(t, h, http.MethodGet, "/npm/"+name); code != http.StatusBadGateway ||
					!strings.Contains(text, "the registry") || strings.Contains(text, "127.0.0.1") {
					t.Errorf("%d %q", code, text)
				}
			}
			want := "the registry " + strings.TrimPrefix(r.URL, "http://") + " " + c.want
			for i, name := range []string{"one", "two"} { // where others may answer, the package is named
				if i < len(told) {
					told[i].Why = strings.TrimSuffix(told[i].Why, " (asked for npm/"+name+")")
				}
			}
			if len(told) != 2 || told[0].Why != want || told[1] != told[0] || told[0].Lasts != c.lasts {
				t.Errorf("told %+v, want %q", told, want)
			}
			if n := len(r.requests()); strings.HasPrefix(c.want, "accepts") && n != 1 {
				t.Errorf("%d requests waited for it", n)
			}
		})
	}
	s := newOutages(time.Millisecond)
	began := time.Now()
	s.noteAnswer("a")
	if s.noteSilence("a", began); s.refuseAway("a") != nil {
		t.Error("one slow request has silenced a registry that answers others")
	}
	if s.noteSilence("a", time.Now().Add(time.Hour)); s.refuseAway("a") == nil {
		t.Error("a silent registry is waited for")
	}
	if s.noteAnswer("a"); s.refuseAway("a") != nil {
		t.Error("a registry that speaks is not asked")
	}
}
