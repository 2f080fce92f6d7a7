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
	// checkpointEvery limits how much work an interrupted layer loses.
	checkpointEvery = 30 * time.Second
	// checkpointTTL is how long the files of an interrupted layer are kept for another
	// attempt. maxCheckpoints limits the bytes of one layer.
	checkpointTTL      = 7 * 24 * time.Hour
	maxCheckpoints     = 2 << 30
	maxCheckpointFiles = 999
	// checkpointFolder is the folder of these files, below the cache folder.
	checkpointFolder = "interrupted"
)

// checkpoints saves the files that the steps of a layer produce. The steps may be interrupted by a
// signal, a timeout or a crash of this process. The next attempt then starts with the saved files.
type checkpoints struct {
	b    *Builder
	in   ecosystem.Install
	name string // unique name of the layer

	container string   // container of the steps
	earlier   []string // files of earlier attempts, oldest first
	next      int
}

// openCheckpoints prepares the checkpoints of a layer. It returns nil if the layer cannot resume. It
// also removes old files.
func (b *Builder) openCheckpoints(install ecosystem.Install, name, container string) *checkpoints {
	if install.Resume == nil {
		return nil
	}
	dir := filepath.Join(b.dir, checkpointFolder)
	removeOldFiles(dir, checkpointTTL)
	return &checkpoints{b: b, in: install, name: name, container: container}
}

// removeOldFiles removes the files of a folder that are older than age.
func removeOldFiles(dir string, age time.Duration) {
	entries, _ := os.ReadDir(dir) // the folder is missing if no layer was interrupted
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > age {
			_ = os.Remove(filepath.Join(dir, entry.Name()))
		}
	}
}

// stageEarlier copies the files of earlier attempts to the folder in which the steps look for them.
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

// addTo adds the files of earlier attempts to the finished layer, because the steps have not produced
// them again.
func (c *checkpoints) addTo(to *layer) error {
	if c == nil {
		return nil
	}
	place := c.in.Collector()
	return c.readEarlier(func(below string, header *tar.Header, r io.Reader) error {
		entry, ok := place.Place(ecosystem.Entry{Path: below})
		if !ok {
			return nil
		}
		return to.addStream(strings.TrimPrefix(entry.Path, "/"), fileMode(c.in, header.Mode), header.Size, r)
	})
}

// readEarlier calls each for every file of earlier attempts, once for each path. It skips checkpoint
// files that cannot be opened; the steps then produce their content again.
func (c *checkpoints) readEarlier(each func(below string, h *tar.Header, r io.Reader) error) error {
	seen := map[string]bool{}
	for _, name := range c.earlier {
		file, err := os.Open(name)
		if err != nil {
			continue
		}
		err = readArchive(file, "what an interrupted layer left", func(header *tar.Header, r io.Reader) error {
			below := cleanName(header.Name)
			if header.Typeflag != tar.TypeReg || seen[below] {
				return nil
			}
			seen[below] = true
			return each(below, header, r)
		})
		_ = file.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// keepWhileRunning saves the new files of a step at intervals until stop is called.
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
	return func() { // wait for a running checkpoint, because the next step writes to the same folder
		close(ended)
		keeper.Wait()
	}
}

var errTooManyCheckpoints = errors.New("the files of an interrupted layer are over the limit")

// keepFiles saves the new files to a file of the cache and returns their size. limit is the maximum in
// bytes.
func (c *checkpoints) keepFiles(ctx context.Context, s *buildSession, limit int64) (kept int64, err error) {
	if r, err := s.runWithin(ctx, ".", c.in.Resume.Save, nil); err != nil || r.ExitCode != 0 {
		return 0, errors.Join(err, ctx.Err())
	}
	file := filepath.Join(c.b.dir, checkpointFolder, fmt.Sprintf("%s-%03d.tar", c.name, c.next))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return 0, err
	}
	layer, err := newLayer(file + ".part")
	if err != nil {
		return 0, err
	}
	defer layer.removeFile() // removes the .part file, unless it was renamed
	files, place := 0, c.in.Collector()
	// Read through the daemon, because the toolbox ends all commands before it sends a tree.
	err = c.b.readTree(ctx, c.container, buildOut, func(header *tar.Header, r io.Reader) error {
		below, ok := strings.CutPrefix(cleanName(header.Name), path.Base(buildOut)+"/")
		if _, placed := place.Place(ecosystem.Entry{Path: below}); !ok || !placed || header.Typeflag != tar.TypeReg {
			return nil
		}
		if kept += header.Size; kept > limit {
			return errTooManyCheckpoints
		}
		files++
		return layer.addStream(below, 0o444, header.Size, r)
	})
	if err == nil && files > 0 {
		if err = layer.close(); err == nil {
			err = placeFile(file+".part", file)
		}
		c.next++
	}
	if r, rerr := s.runWithin(ctx, ".", c.in.Resume.Clear, nil); err == nil && (rerr != nil || r.ExitCode != 0) {
		err = errors.Join(rerr, ctx.Err())
	}
	return kept, err
}

// removeAll removes the checkpoints of a finished layer.
func (c *checkpoints) removeAll() {
	if c == nil {
		return
	}
	all, _ := filepath.Glob(filepath.Join(c.b.dir, checkpointFolder, c.name+"-*"))
	for _, file := range all {
		_ = os.Remove(file)
	}
}
