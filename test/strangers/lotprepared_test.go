package strangers

import (
	"reflect"
	"testing"
	"time"
)

// What was prepared for a place of a draw is there for a later run, whole.
func TestPreparedCaseIsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := Listed{Stratum: GoProxy, Name: "example.com/m", Version: "v1.2.3", Digest: "h1:x"}
	want := preparedCase{PassedOver: []string{"another: its packages"}, Case: &lotCase{
		Listed: l, From: Checkout{Dir: "/tmp/m"}, Green: []theirCommand{{File: "go.mod", Text: "go test ./...", Run: "go test ./..."}},
		Good: []File{{Path: "a_test.go", Text: "package a\n"}}, Counts: []int{-1}, Names: []string{"TestA"},
		Mutation: mutation{File: "a.go", Line: 3, Old: "a == b", New: "a != b"}, Red: theirCommand{Text: "go test ./..."}, Prepared: time.Minute,
	}}
	if err := want.keep(dir, 7); err != nil {
		t.Fatal(err)
	}
	if got, err := readPrepared(dir, 7); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := readPrepared(dir, 8); err == nil {
		t.Error("a place that nobody prepared is read")
	}
}
