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

// SeedFile is a pack of git, or its index, that is sent into a container.
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
	err := c.sendSeed(ctx, r)
	_ = r.CloseWithError(errors.New("the seed is not read any more"))
	if werr := <-written; werr != nil && err != nil && ctx.Err() == nil && !errors.As(err, new(*Refusal)) {
		return fmt.Errorf("send the history: %w", werr) // ours is the reason of the other
	}
	return err
}

func (c *Client) sendSeed(ctx context.Context, body io.Reader) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://toolbox/v1/seed", body)
	if err != nil {
		return &Broken{"seed", err}
	}
	req.Header.Set("Content-Type", "application/x-tar")
	resp, err := c.sendRequest(req, "seed")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := decodeBounded(resp.Body, &Empty{}); err != nil {
		return newBroken(ctx, "seed", err)
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
