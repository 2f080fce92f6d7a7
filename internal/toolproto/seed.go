package toolproto

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
)

// SeedFile is a file that is sent into a container: a pack of git, or its index, or a file of the instruction.
type SeedFile struct {
	Name string
	Open func() (io.ReadCloser, int64, error) // its bytes, and how many
}

// seedName is what such a file may be called.
var seedName = regexp.MustCompile(`^pack-[0-9a-f]{40}([0-9a-f]{24})?\.(pack|idx)$`)

// IsSeedName reports whether a file of a seed may have this name.
func IsSeedName(name string) bool { return seedName.MatchString(name) }

// Seed sends packs into the workspace's repository, before Prepare. They travel as
// a tar and are stored as they are.
func (c *Client) Seed(ctx context.Context, files []SeedFile) error {
	return c.sendArchive(ctx, "seed", files)
}

// Attach sends the files of an instruction into AttachedFolder, where the agent may read
// and copy them.
func (c *Client) Attach(ctx context.Context, files []SeedFile) error {
	return c.sendArchive(ctx, "attach", files)
}

// sendArchive sends files as a tar to a tool that stores them.
func (c *Client) sendArchive(ctx context.Context, tool string, files []SeedFile) error {
	if len(files) == 0 {
		return nil
	}
	r, w := io.Pipe()
	written := make(chan error, 1)
	go func() {
		err := writeSeed(w, files)
		_ = w.CloseWithError(err)
		written <- err
	}()
	err := c.postArchive(ctx, tool, r)
	_ = r.CloseWithError(errors.New("the archive is not read any more"))
	if werr := <-written; werr != nil && err != nil && ctx.Err() == nil && !errors.As(err, new(*Refusal)) {
		return fmt.Errorf("send the files of %s: %w", tool, werr) // ours is the reason of the other
	}
	return err
}

func (c *Client) postArchive(ctx context.Context, tool string, body io.Reader) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://toolbox/v1/"+tool, body)
	if err != nil {
		return &Broken{tool, err}
	}
	req.Header.Set("Content-Type", "application/x-tar")
	resp, err := c.sendRequest(req, tool)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := decodeBounded(resp.Body, &Empty{}); err != nil {
		return newBroken(ctx, tool, err)
	}
	return nil
}

// writeSeed writes the files as a tar.
func writeSeed(to io.Writer, files []SeedFile) error {
	w := tar.NewWriter(to)
	for _, f := range files {
		if err := writeSeedFile(w, f); err != nil {
			return err
		}
	}
	return w.Close()
}

func writeSeedFile(w *tar.Writer, f SeedFile) error {
	from, size, err := f.Open()
	if err != nil {
		return err
	}
	defer from.Close()
	if err := w.WriteHeader(&tar.Header{Name: f.Name, Mode: 0o444, Size: size}); err != nil {
		return err
	}
	_, err = io.Copy(w, from)
	return err
}
