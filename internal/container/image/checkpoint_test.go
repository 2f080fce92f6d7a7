package image

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/ecosystem"
	"company/internal/lib/hosttest"
)

// anyFile is a collector that keeps every file of one folder of the image.
type anyFile struct{}

func (anyFile) Place(e ecosystem.Entry) (ecosystem.Entry, bool) {
	return ecosystem.Entry{Path: "/opt/kept/" + e.Path}, e.Link == "" && strings.HasSuffix(e.Path, ".o")
}
func (anyFile) Files() []ecosystem.ImageFile { return nil }

// What a layer made before it was interrupted is there at the next try, which makes the rest,
// and in the image. The files are removed once the layer is there.
func TestInterruptedLayerGoesOn(t *testing.T) {
	be := newTestBuilder(t)
	be.checkpointEvery = 200 * time.Millisecond
	repo := newProject(t).commit(map[string]string{"README": "hello\n"})
	const making = `mkdir -p /tmp/made; for i in 1 2 3; do test -e /opt/company/old/$i.o || { echo made $i > /tmp/made/$i.o; test $i != 2 || test -e /opt/company/old || sleep 600; }; done; test -e /tmp/made/3.o`
	in := ecosystem.Install{
		Layer: "resumed", What: "a layer", History: true, Collector: func() ecosystem.Collector { return anyFile{} },
		Resume: &ecosystem.Resume{
			Save:  "for f in /tmp/made/*.o; do test ! -e $f -o -e $f.kept || { cp $f .; touch $f.kept; }; done",
			Clear: "rm -f ./*.o", From: "/opt/company/old"},
		Steps: []ecosystem.Step{
			{Dir: ".", Command: making, Resumes: true, Progress: "making", Failure: "it cannot be made"},
			{Dir: ".", Command: "cp /tmp/made/*.o .; ls /opt/company/old > seen.o", Progress: "keeping",
				Failure: "it cannot be kept"},
		},
	}
	base, err := be.ensureSteps(newContext(t), []layerStep{be.baseStep(newBuiltBase())})
	if err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(t.TempDir(), "resumed-"+string(hashKey(t.TempDir())[:20]))
	try := func(ctx context.Context) (map[string]string, error) {
		if err := os.MkdirAll(work, 0o700); err != nil {
			t.Fatal(err)
		}
		l, err := newLayer(filepath.Join(work, "layer.tar"))
		if err != nil {
			t.Fatal(err)
		}
		defer l.removeFile()
		if err := be.fillInstall(in, repo, nil)(ctx, base, work, l); err != nil {
			return nil, err
		}
		if err := l.close(); err != nil {
			t.Fatal(err)
		}
		return readRegular(t, l.newReader()), nil
	}
	kept := func() []string {
		all, _ := filepath.Glob(filepath.Join(be.dir, checkpointFolder, filepath.Base(work)+"-*.tar"))
		return all
	}
	t.Cleanup(be.openCheckpoints(in, filepath.Base(work), "").removeAll)
	ctx, interrupt := context.WithCancel(newContext(t))
	ended := make(chan error, 1)
	go func() {
		_, err := try(ctx)
		ended <- err
	}()
	made := func() string { // of which a checkpoint may have one, and the next the other
		all := map[string]string{}
		for _, file := range kept() {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			maps.Copy(all, readRegular(t, bytes.NewReader(text)))
		}
		return strings.Join(slices.Sorted(maps.Keys(all)), " ")
	}
	hosttest.Eventually(t, "both objects are kept", func() (any, bool) {
		kept := made()
		return kept, kept == "1.o 2.o"
	})
	interrupt()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
	files, err := try(newContext(t))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"opt/kept/1.o": "made 1\n", "opt/kept/2.o": "made 2\n", "opt/kept/3.o": "made 3\n",
		"opt/kept/seen.o": "1.o\n2.o\n"}
	for name, text := range want {
		if files[name] != text {
			t.Errorf("%s is %q, want %q", name, files[name], text)
		}
	}
	if all := kept(); len(all) > 0 {
		t.Errorf("%q stay", all)
	}
}

// readRegular reads the regular files of a tar.
func readRegular(t *testing.T, from io.Reader) map[string]string {
	t.Helper()
	out := map[string]string{}
	for r := tar.NewReader(from); ; {
		h, err := r.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			text, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			out[h.Name] = string(text)
		}
	}
}
