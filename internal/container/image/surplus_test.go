package image

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"company/internal/company"
)

// stackOf makes layers from words like "base=1 repo=2".
func stackOf(text string) (out []Layer) {
	for word := range strings.FieldsSeq(text) {
		kind, key, _ := strings.Cut(word, "=")
		out = append(out, Layer{Kind: kind, Key: company.Hash(key)})
	}
	return out
}

// newEntry makes a worker image of a mirror that was last used in one of five minutes, or a layer
// without a mirror.
func newEntry(name, mirror string, minute int, size int64, stack string) ImageEntry {
	e := ImageEntry{Tag: layerRepository + ":" + name, ID: "id-" + name, Size: size, Layers: stackOf(stack)}
	e.Kind = e.topLayer().Kind
	if mirror != "" {
		e.Tag, e.IsWorkerImage, e.Mirrors = workerRepository+":"+name, true, []string{mirror}
	}
	if minute > 0 {
		e.Used = time.Now().Add(time.Duration(minute-6) * time.Minute)
	}
	return e
}

func tagsOf(all []ImageEntry) string {
	var out []string
	for _, e := range all {
		_, name, _ := strings.Cut(e.Tag, ":")
		out = append(out, name)
	}
	return strings.Join(out, " ")
}

// The newest images of a project stay, by their last use, and those of tasks at work.
func TestFindSurplus(t *testing.T) {
	entries := []ImageEntry{
		newEntry("layer", "", 0, 1, "base=b"), newEntry("of-others", "/n", 1, 1, "base=b repo=n1"),
	}
	for i := 1; i <= 5; i++ {
		entries = append(entries, newEntry("m"+strconv.Itoa(i), "/m", i, 1, "base=b toolbox=x repo=m"+strconv.Itoa(i)))
	}
	unrecorded := newEntry("old", "/m", 0, 1, "base=b repo=old")
	unrecorded.Mirrors = nil
	renewed := newEntry("renewed", "/m", 1, 1, "base=b toolbox=x repo=m1 toolbox=y")
	for name, x := range map[string]struct {
		project Project
		needed  []string
		keep    int
		want    string
	}{
		"beyond the newest":       {Project{Mirror: "/m"}, nil, 2, "m3 m2 m1"},
		"enough room":             {Project{Mirror: "/m"}, nil, 5, ""},
		"one is needed":           {Project{Mirror: "/m"}, []string{"m2"}, 2, "m3 m1"},
		"a needed one is extra":   {Project{Mirror: "/m"}, []string{"m5"}, 2, "m2 m1"},
		"used since a task began": {Project{Mirror: "/m", Recent: 150 * time.Second}, nil, 1, "m3 m2 m1"},
		"of another project":      {Project{Mirror: "/n"}, nil, 1, ""},
		"named by a task alone":   {Project{Mirror: "/m", Images: []string{"old"}}, nil, 5, "old"},
		"no task names it":        {Project{Mirror: "/m"}, []string{"of-others"}, 5, ""},
		"what a needed one bears": {Project{Mirror: "/m"}, []string{"m1"}, 2, "m3 m2"},
	} {
		all := append(slices.Clone(entries), unrecorded)
		if name == "what a needed one bears" {
			all = append(all, renewed)
		}
		if got := tagsOf(FindSurplus(all, x.project, x.needed, x.keep)); got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}

// Bytes are counted by layers: one that several images have is counted once, and freed
// with the last of them.
func TestImageBytes(t *testing.T) {
	base, npm, tools := newEntry("base", "", 0, 100, "base=b"), newEntry("npm", "", 0, 150, "base=b npm=n"),
		newEntry("toolbox", "", 0, 158, "base=b npm=n toolbox=t")
	one, two := newEntry("one", "/m", 1, 258, "base=b npm=n toolbox=t repo=1"),
		newEntry("two", "/m", 2, 288, "base=b npm=n toolbox=t repo=2")
	foreign := newEntry("foreign", "/n", 3, 1100, "base=b repo=3")
	all := []ImageEntry{two, foreign, tools, base, one, npm}
	ofM := func(e ImageEntry) bool { return slices.Contains(e.Mirrors, "/m") }
	if got := OwnBytes(all, ofM); got != 50+100+130 {
		t.Errorf("%d bytes of the project", got)
	}
	if got := FreedBytes(all, []ImageEntry{one, two, tools, npm}); !slices.Equal(got, []int64{100, 130, 8, 50}) {
		t.Errorf("freed: %v", got)
	}
	if got := FreedBytes(all, []ImageEntry{npm, one}); !slices.Equal(got, []int64{0, 100}) {
		t.Errorf("freed below others: %v", got)
	}
	// Names of layers were removed by hand: what is below is never counted twice.
	bare := []ImageEntry{base, one, two}
	if got := OwnBytes(bare, ofM); got > 50+8+100+130 || got < 130 {
		t.Errorf("%d bytes without the layers' names", got)
	}
	if got := FreedBytes(all, nil); len(got) != 0 {
		t.Errorf("%v", got)
	}
}
