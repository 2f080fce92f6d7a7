package replay

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/lib/hosttest"
)

// pattern is a text of n bytes, as a pack would be.
func pattern(n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(i * i >> 3)
	}
	return out
}

// writeFile writes the record of a finished task with these git objects.
func writeFile(t *testing.T, from Source, pack []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	f, err := NewFileWriter(&out, FileHeader{Task: "t1", Program: "1.2"})
	if err == nil {
		err = StreamRecord(t.Context(), from, "t1", f.AddEntry)
	}
	if err == nil {
		err = f.AddSettings(map[string]string{"gates.test": `"make"`})
	}
	if err == nil {
		_, err = io.Copy(f, bytes.NewReader(pack))
	}
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestRecordFile: a record that went through a file has the conversations, the settings and
// the git objects that went in.
func TestRecordFile(t *testing.T) {
	from := openJournalled(t)
	want, err := readFrom(t, from, "t1")
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{0, 10, packPiece, 2*packPiece + 7} {
		pack := pattern(size)
		text := writeFile(t, from, pack)
		var got bytes.Buffer
		file, err := ReadFile(t.Context(), bytes.NewReader(text), &got)
		if err != nil {
			t.Fatal(err)
		}
		before, _ := json.Marshal(want.Runs)
		after, _ := json.Marshal(file.Record.Runs)
		if !bytes.Equal(got.Bytes(), pack) || !bytes.Equal(before, after) || len(file.Record.steps) != len(want.steps) ||
			file.Record.Office != "aaaa" ||
			file.Task != "t1" || file.Program != "1.2" || !maps.Equal(file.Settings, map[string]string{"gates.test": `"make"`}) {
			t.Errorf("%d bytes of objects: %+v, %d steps", size, file.FileHeader, len(file.Record.steps))
		}
		if p := file.Record.Project(); p.Path != "" || p.ID != "record-"+string(base)[:16] {
			t.Errorf("the record counts for %+v", p)
		}
		if ids := file.Record.Objects(); len(ids) != 1 || ids[0] != base {
			t.Errorf("the objects are %v", ids)
		}
	}
}

// readAll is all that a record file says, as one text.
func readAll(t *testing.T, text []byte) (string, error) {
	t.Helper()
	var objects bytes.Buffer
	file, err := ReadFile(t.Context(), bytes.NewReader(text), &objects)
	if err != nil {
		return "", err
	}
	all, err := json.Marshal([]any{file.FileHeader, file.Settings, file.Record.Runs, objects.Bytes()})
	if err != nil {
		t.Fatal(err)
	}
	return string(all), nil
}

// recompress is a record file with other lines.
func recompress(t *testing.T, text []byte, change func(lines []byte) []byte) []byte {
	t.Helper()
	first, packed, _ := bytes.Cut(text, []byte("\n"))
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	lines, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	out.Write(append(first, '\n'))
	w := gzip.NewWriter(&out)
	if _, err := w.Write(change(lines)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestRecordFileIsRefused: a file that is cut off anywhere, damaged anywhere, of a newer
// version, of something else, or that unfolds without end is refused with a reason.
func TestRecordFileIsRefused(t *testing.T) {
	hosttest.NotRaced(t, "one goroutine reads a file that is damaged at many places")
	whole := writeFile(t, openJournalled(t), pattern(100))
	intact, err := readAll(t, whole)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(name string, text []byte, says string) {
		t.Helper()
		_, err := ReadFile(t.Context(), bytes.NewReader(text), io.Discard)
		var e *company.Error
		if !errors.As(err, &e) || e.Code != company.EInvalid || e.Hint == "" || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	refused("nothing", nil, "not a record of a task")
	refused("a pack", []byte("PACK and more than sixteen bytes"), "not a record of a task")
	refused("a first line without end", []byte("company record 1234567890123456\n"), "first line is incomplete")
	refused("a newer one", bytes.Replace(whole, []byte("company record 1\n"), []byte("company record 2\n"), 1),
		"newer version")
	refused("something behind it", append(bytes.Clone(whole), 'x'), "data follows its end")
	for at := len(fileMagic) + 2; at < len(whole); at += 1 + len(whole)/97 {
		refused("cut off", whole[:at], "the record is cut off")
		damaged := bytes.Clone(whole)
		damaged[at] ^= 0x10
		switch got, err := readAll(t, damaged); {
		case err != nil && company.CodeOf(err) != company.EInvalid:
			t.Errorf("damage at %d: %v", at, err)
		// Some bits of gzip say nothing of its text: time and system in its head, and those that
		// fill the byte before a block that is stored.
		case err == nil && got != intact:
			t.Errorf("damage at %d is not found", at)
		}
	}
	refused("another event",
		recompress(t, whole, func(l []byte) []byte {
			return bytes.Replace(l, []byte(`"task":"t1"`), []byte(`"task":"t2"`), 1)
		}), "record is damaged")
	refused("another text",
		recompress(t, whole, func(l []byte) []byte { return bytes.Replace(l, []byte(`\"make\"`), []byte(`\"fake\"`), 1) }),
		"checksum does not match")
	refused("no checksum",
		recompress(t, whole, func(l []byte) []byte { return l[:bytes.LastIndex(l, []byte(`{"sha256"`))] }), "cut off")
	refused("a line too long",
		recompress(t, whole, func([]byte) []byte { return bytes.Repeat([]byte("a"), maxFileLine+100) }),
		"the record is too large")
	refused("entries behind the objects", recompress(t, whole, func(l []byte) []byte {
		at := bytes.LastIndex(l, []byte(`{"sha256"`))
		return append(bytes.Clone(l[:at]), `{"entry":{"office":"x"}}`+"\n"...)
	}), "wrong place")
	full := errors.New("the disk is full")
	if _, err := ReadFile(t.Context(), bytes.NewReader(whole), failingWriter{full}); !errors.Is(err, full) {
		t.Error(err)
	}
}

type failingWriter struct{ err error }

func (f failingWriter) Write([]byte) (int, error) { return 0, f.err }
