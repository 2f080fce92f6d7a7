package strangers

import (
	"errors"
	"reflect"
	"testing"
	"time"
)

// What was prepared for a place of a draw is there for a later run, whole, and its
// repository is fetched again where it is not here.
func TestPreparedCaseIsKept(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	file := preparedFile(t.TempDir(), "0123456789abcdef", 1)
	l := Listed{Stratum: DebianGo, Name: "m", Version: "1.2.3-1"}
	upstream, err := cacheDir("upstream", l.Name+"_"+l.Version, "tree")
	if err != nil {
		t.Fatal(err)
	}
	want := preparedCase{Number: 7, PassedOver: []string{"another: its packages"}, Case: &lotCase{
		Listed: l, From: Checkout{Dir: upstream},
		Green: []theirCommand{{File: "go.mod", Text: "go test ./...", Run: "go test ./..."}},
		Good:  []File{{Path: "a_test.go", Text: "package a\n"}}, Counts: []int{-1}, Names: []string{"TestA"},
		Mutation: mutation{File: "a.go", Line: 3, Old: "a == b", New: "a != b"}, Red: theirCommand{Text: "go test ./..."},
		Prepared: time.Minute,
	}}
	if err := errors.Join(appendLine(file, want), appendLine(file, preparedCase{Number: 9})); err != nil {
		t.Fatal(err)
	}
	if got, err := readPrepared(t.Context(), file, 7); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := readPrepared(t.Context(), file, 9); err != nil || got.Case != nil {
		t.Errorf("a place without a candidate: %+v, %v", got, err)
	}
	if _, err := readPrepared(t.Context(), file, 8); !errors.Is(err, errNotPrepared) {
		t.Errorf("a place that was not prepared: %v", err)
	}
	gone := preparedCase{Number: 10, Case: &lotCase{Listed: Listed{Stratum: Generator, Name: "none"}}}
	if err := appendLine(file, gone); err != nil {
		t.Fatal(err)
	}
	if got, err := readPrepared(t.Context(), file, 10); err == nil || errors.Is(err, errNotPrepared) {
		t.Errorf("a repository that cannot be had: %+v, %v", got, err)
	}
}
