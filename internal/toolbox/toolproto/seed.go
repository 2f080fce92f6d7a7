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

// SeedFile is a file to send into a container: a git pack, its index, or a file of the instruction.
type SeedFile struct {
	Name string
	Open func() (io.ReadCloser, int64, error) // returns the content and its size
}

// seedName matches the allowed names of packs and their indexes.
var seedName = regexp.MustCompile(`^pack-[0-9a-f]{40}([0-9a-f]{24})?\.(pack|idx)$`)

// IsSeedName reports whether a name is allowed for a pack or its index.
func IsSeedName(name string) bool { return seedName.MatchString(name) }

// Seed sends packs into the workspace's repository, before Prepare. They are sent as a tar and stored unchanged.
func (c *Client) Seed(ctx context.Context, files []SeedFile) error {
	return c.sendArchive(ctx, "seed", files)
}

// Attach sends the files of an instruction to AttachedFolder, where the agent can read and copy them.
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
		return fmt.Errorf("send the files of %s: %w", tool, werr) // our error caused the other one
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

func writeSeedFile(w *tar.Writer, seedFile SeedFile) error {
	from, size, err := seedFile.Open()
	if err != nil {
		return err
	}
	defer from.Close()
	if err := w.WriteHeader(&tar.Header{Name: seedFile.Name, Mode: 0o444, Size: size}); err != nil {
		return err
	}
	_, err = io.Copy(w, from)
	return err
}
