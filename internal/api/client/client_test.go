package client_test

import (
	"testing"

	"company/internal/api/client"
	"company/internal/company"
	"company/internal/office"
)

// An office that was never opened answers as one without a past, and takes no
// command.
func TestOfficeThatWasNeverOpened(t *testing.T) {
	o := client.None(office.Paths{Root: t.TempDir()})
	defer o.Close()
	if !o.IsMissing() || o.IsAtWork() {
		t.Error("it is there")
	}
	v, err := o.Overview(t.Context(), true)
	if err != nil || len(v.Tasks) > 0 || v.Open {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := o.Do(t.Context(), "", company.Stop{}); company.CodeOf(err) != company.ENotFound {
		t.Errorf("a command: %v", err)
	}
	if _, err := o.ReadTranscript(t.Context(), company.RunID("t1-01.1")); company.CodeOf(err) != company.ENotFound {
		t.Errorf("a journal: %v", err)
	}
}

// A holder that does not listen yet is not an error: it opens the office, or ends.
func TestDialWithoutSocket(t *testing.T) {
	for _, held := range []*office.Holder{nil, {}, {Socket: t.TempDir() + "/gone"}} {
		if o, err := client.Dial(t.Context(), held); o != nil || err != nil {
			t.Errorf("%+v: %v, %v", held, o, err)
		}
	}
}

// What cannot be an id is refused before it becomes another path.
func TestIDsThatAreNoPath(t *testing.T) {
	o := client.None(office.Paths{Root: t.TempDir()})
	defer o.Close()
	for _, id := range []string{"", ".", ".."} {
		if _, err := o.Shown(t.Context(), id); company.CodeOf(err) != company.EUsage {
			t.Errorf("%q: %v", id, err)
		}
	}
	if _, err := o.Shown(t.Context(), "../overview"); company.CodeOf(err) == "" ||
		company.CodeOf(err) == company.EInternal {
		t.Errorf("a path: %v", err)
	}
}
