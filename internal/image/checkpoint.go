package image

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"company/internal/company"
	"company/internal/ecosystem"
)

const (
	// checkpointEvery is how much work an interrupted layer loses at the most.
	checkpointEvery = 30 * time.Second
	// checkpointTTL is how long the files of an interrupted layer wait for another try, and
	// maxCheckpoints bounds the bytes of one layer.
	checkpointTTL      = 7 * 24 * time.Hour
	maxCheckpoints     = 2 << 30
	maxCheckpointFiles = 999
	// checkpointFolder has them, below the folder of the cache.
	checkpointFolder = "interrupted"
)

// checkpoints are the files that the steps of a layer made before they were interrupted: by a
// signal, a timeout or a crash of this process. The next try begins with them.
type checkpoints struct {
	b    *Builder
	in   ecosystem.Install
	name string // of the layer, unique

	container string   // that the steps run in
	earlier   []string // files of tries before this one, the oldest first
	next      int
}

// openCheckpoints finds what earlier tries have left. Nil: the layer keeps nothing.
func (b *Builder) openCheckpoints(in ecosystem.Install, name, container string) *checkpoints {
	if in.Resume == nil {
		return nil
	}
	dir := filepath.Join(b.dir, checkpointFolder)
	removeOldFiles(dir, checkpointTTL)
	return &checkpoints{b: b, in: in, name: name, container: container}
}

// removeOldFiles removes the files of a folder that are older than that.
func removeOldFiles(dir string, age time.Duration) {
	entries, _ := os.ReadDir(dir) // none: nothing was interrupted
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > age {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// stageEarlier puts the files of earlier tries where the steps look for them.
func (c *checkpoints) stageEarlier(to *layer) error {
	if c == nil {
		return nil
	}
	c.earlier, _ = filepath.Glob(filepath.Join(c.b.dir, checkpointFolder, c.name+"-*.tar"))
	slices.Sort(c.earlier)
	c.next = len(c.earlier)
	return c.readEarlier(func(below string, h *tar.Header, r io.Reader) error {
		return to.addStream(strings.TrimPrefix(path.Join(c.in.Resume.From, below), "/"), 0o444, h.Size, r)
	})
}

// addTo adds the same files to the finished layer: the steps have not made them anew.
func (c *checkpoints) addTo(to *layer) error {
	if c == nil {
		return nil
	}
	place := c.in.Collector()
	return c.readEarlier(func(below string, h *tar.Header, r io.Reader) error {
		at, ok := place.Place(ecosystem.Entry{Path: below})
		if !ok {
			return nil
		}
		return to.addStream(strings.TrimPrefix(at.Path, "/"), fileMode(c.in, h.Mode), h.Size, r)
	})
}

// readEarlier calls each for every file of earlier tries, once for each path. A file that
// cannot be read is left out: the steps make its content anew.
func (c *checkpoints) readEarlier(each func(below string, h *tar.Header, r io.Reader) error) error {
	seen := map[string]bool{}
	for _, name := range c.earlier {
		f, err := os.Open(name)
		if err != nil {
			continue
		}
		err = readArchive(f, "what an interrupted layer left", func(h *tar.Header, r io.Reader) error {
			below := cleanName(h.Name)
			if h.Typeflag != tar.TypeReg || seen[below] {
				return nil
			}
			seen[below] = true
			return each(below, h, r)
		})
		_ = f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// keepWhileRunning keeps what a step makes, again and again, until stop is called.
func (c *checkpoints) keepWhileRunning(s *buildSession) (stop func()) {
	if c == nil {
		return func() {}
	}
	if len(c.earlier) > 0 {
		c.b.reportProgress("going on with what was compiled before the interruption")
	}
	ctx, ended := s.ctx, make(chan struct{})
	var keeper sync.WaitGroup
	keeper.Go(func() {
		_ = company.Guard("keeping the files of a layer", func() error {
			left := int64(maxCheckpoints)
			for left > 0 && c.next < maxCheckpointFiles {
				select {
				case <-ctx.Done():
					return nil
				case <-ended:
					return nil
				case <-time.After(c.b.checkpointEvery):
				}
				n, err := c.keepFiles(ctx, s, left)
				if left -= n; err != nil && ctx.Err() == nil {
					c.b.log.InfoContext(ctx, "the files of a layer are not kept", "layer", c.name, "err", err)
				}
			}
			return nil
		})
	})
	return func() { // waits for a running checkpoint: the next step writes to the same folder
		close(ended)
		keeper.Wait()
	}
}

var errTooManyCheckpoints = errors.New("the files of an interrupted layer are over their bound")

// keepFiles writes the files that are new to a file of the cache.
func (c *checkpoints) keepFiles(ctx context.Context, s *buildSession, most int64) (kept int64, err error) {
	if r, err := s.runWithin(ctx, ".", c.in.Resume.Save, nil); err != nil || r.ExitCode != 0 {
		return 0, errors.Join(err, ctx.Err())
	}
	file := filepath.Join(c.b.dir, checkpointFolder, fmt.Sprintf("%s-%03d.tar", c.name, c.next))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return 0, err
	}
	l, err := newLayer(file + ".part")
	if err != nil {
		return 0, err
	}
	defer l.removeFile() // its own name, unless it was renamed
	files, place := 0, c.in.Collector()
	// The toolbox ends every command before it sends a tree, so the daemon is asked.
	err = c.b.readTree(ctx, c.container, buildOut, func(h *tar.Header, r io.Reader) error {
		below, ok := strings.CutPrefix(cleanName(h.Name), path.Base(buildOut)+"/")
		if _, placed := place.Place(ecosystem.Entry{Path: below}); !ok || !placed || h.Typeflag != tar.TypeReg {
			return nil
		}
		if kept += h.Size; kept > most {
			return errTooManyCheckpoints
		}
		files++
		return l.addStream(below, 0o444, h.Size, r)
	})
	if err == nil && files > 0 {
		if err = l.close(); err == nil {
			err = placeFile(file+".part", file)
		}
		c.next++
	}
	if r, rerr := s.runWithin(ctx, ".", c.in.Resume.Clear, nil); err == nil && (rerr != nil || r.ExitCode != 0) {
		err = errors.Join(rerr, ctx.Err())
	}
	return kept, err
}

// removeAll removes the files once their layer is made.
func (c *checkpoints) removeAll() {
	if c == nil {
		return
	}
	all, _ := filepath.Glob(filepath.Join(c.b.dir, checkpointFolder, c.name+"-*"))
	for _, file := range all {
		_ = os.Remove(file)
	}
}
