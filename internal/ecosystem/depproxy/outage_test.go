package depproxy

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A registry that answers for no package is away; one that fails for some is not, whatever
// order they are asked for in, and a failure that is over at the second request is none.
func TestRegistryAway(t *testing.T) {
	fail := func(names ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if slices.Contains(names, r.URL.Path) {
				http.Error(w, "no", http.StatusServiceUnavailable)
				return
			}
			http.Error(w, "there is none", http.StatusNotFound)
		}
	}
	var first atomic.Bool
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		told  int
		away  bool // at the last failure
	}{
		"fails for all":     {fail("/a", "/b", "/c", "/d"), 4, true},
		"fails for two":     {fail("/a", "/b"), 2, false},
		"fails for three":   {fail("/a", "/b", "/d"), 3, false},
		"cannot be reached": {nil, 4, true},
		"failed for a moment": {func(w http.ResponseWriter, r *http.Request) {
			if first.CompareAndSwap(false, true) {
				http.Error(w, "no", http.StatusServiceUnavailable)
				return
			}
			fail()(w, r)
		}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newFakeRegistry(t, c.serve)
			if c.serve == nil {
				r.Close()
			}
			// with its usual patience: none of these is silent, and a machine may be slow
			s := newStore(t, upstreamsAt(NPM, r.URL))
			s.transport.outages.pause = 50 * time.Millisecond
			policy := NewPolicy()
			var told []Failure
			h := s.NewHandler(HandlerOptions{Policy: policy, OnFailure: func(f Failure) { told = append(told, f) }})
			for _, name := range []string{"a", "b", "c", "d"} {
				policy.AllowWithNeeds(newDependency(NPM, name, ""))
				getPath(t, h, http.MethodGet, "/npm/"+name)
			}
			if len(told) != c.told || c.told > 0 && told[len(told)-1].Away != c.away {
				t.Errorf("told %+v", told)
			}
			for _, failure := range told { // an answer of any kind reaches us
				if failure.Unreachable != (c.serve == nil) ||
					strings.Contains(failure.Fix, "company approve tries again") != failure.Unreachable {
					t.Errorf("told %+v", failure)
				}
			}
			if found := s.CheckRegistry(t.Context(), NPM); (found != nil) != (c.serve == nil) {
				t.Errorf("asked by itself: %+v", found)
			}
		})
	}
}

// A registry that takes long for a file and answers other requests is waited for; one that
// answers nothing is given up long before its patience ends.
func TestSlowRegistryIsProbed(t *testing.T) {
	for name, answers := range map[string]bool{"slow": true, "silent": false} {
		t.Run(name, func(t *testing.T) {
			r := newFakeRegistry(t, func(w http.ResponseWriter, r *http.Request) {
				switch {
				case !answers:
					<-r.Context().Done()
				case r.URL.Path != "/":
					time.Sleep(400 * time.Millisecond)
					http.Error(w, "there is none", http.StatusNotFound)
				}
			})
			s := newStore(t, upstreamsAt(NPM, r.URL))
			s.transport.outages.probeAfter, s.transport.outages.probeTimeout = 50*time.Millisecond, 150*time.Millisecond
			if answers { // a busy machine may take long for the answer to a probe, too
				s.transport.outages.probeTimeout = time.Minute
			}
			policy := NewPolicy()
			policy.AllowWithNeeds(newDependency(NPM, "a", ""))
			var told []Failure
			h := s.NewHandler(HandlerOptions{Policy: policy, OnFailure: func(f Failure) { told = append(told, f) }})
			code, _ := getPath(t, h, http.MethodGet, "/npm/a")
			if (code == http.StatusNotFound) != answers || (len(told) == 1 && told[0].Away) == answers {
				t.Errorf("%d, told %+v", code, told)
			}
		})
	}
}
