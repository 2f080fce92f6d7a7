package toolproto

import (
	"archive/tar"
	"bytes"
	"context"
	"net/http"
)

// AttachedFile is a file of an instruction.
type AttachedFile struct {
	Name    string
	Content []byte
}

// Attach sends the files of an instruction to AttachedFolder, where the agent can read and copy them.
func (c *Client) Attach(ctx context.Context, files []AttachedFile) error {
	if len(files) == 0 {
		return nil
	}
	const tool = "attach"
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, file := range files {
		header := &tar.Header{Name: file.Name, Mode: 0o444, Size: int64(len(file.Content))}
		if err := w.WriteHeader(header); err != nil {
			return err
		}
		if _, err := w.Write(file.Content); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://toolbox/v1/"+tool, &archive)
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
