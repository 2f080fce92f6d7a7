package golang

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"company/internal/ecosystem"
	"company/internal/ecosystem/ecosystemtest"
)

// partialHost is a host whose go command downloads for the root module alone.
type partialHost struct {
	ecosystem.FetchHost // the rest is not called
	told, logged        []string
}

func (*partialHost) Stage(map[string][]byte) error { return nil }
func (*partialHost) Write(string, []byte) error    { return nil }
func (*partialHost) Getenv(string) (string, bool)  { return "", false }
func (*partialHost) Places() ecosystem.FetchPlaces {
	return ecosystem.FetchPlaces{Source: "/s", Home: "/h", Out: "/o", Mirror: "http://mirror"}
}
func (*partialHost) Ask(context.Context, []string, ...string) (string, error) {
	return `{"GOPROXY":"https://a.example"}`, nil
}
func (*partialHost) Run(_ context.Context, dir string, _ []string, argv ...string) (string, error) {
	if dir == "/s" || slices.Contains(argv, "edit") {
		return "{}", nil
	}
	return "", errors.New("404 Not Found")
}
func (h *partialHost) ReportProgress(format string, args ...any) {
	h.told = append(h.told, fmt.Sprintf(format, args...))
}
func (h *partialHost) Log(_ context.Context, message string, err error) {
	h.logged = append(h.logged, message+": "+err.Error())
}
func (*partialHost) Explain(_ context.Context, err error) error {
	return fmt.Errorf("this repository may not use your login: %w", err)
}

// Modules of a part that cannot be had cost the others nothing: people are told why
// they were refused, and the log has what the client said of each.
func TestPartWithoutModules(t *testing.T) {
	all, err := Ecosystem{}.Installs(
		&ecosystemtest.Sources{Texts: map[string]string{"go.mod": needs, "tools/go.mod": needs}})
	if err != nil {
		t.Fatal(err)
	}
	h := &partialHost{}
	if err := all[0].Fetch(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	told := h.told[len(h.told)-1]
	if !strings.HasPrefix(
		told, "the modules of tools/go.mod cannot be downloaded; its gates may fail: this repository may not use your "+
			"login: ") {
		t.Errorf("people are told: %s", told)
	}
	if want := []string{"some modules of a part cannot be downloaded: 404 Not Found"}; !slices.Equal(h.logged, want) {
		t.Errorf("the log has %q, want %q", h.logged, want)
	}
}
