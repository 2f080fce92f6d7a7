package toolproto

import (
	"context"
	"io"
	"net/http"
)

// ReadTree passes the whole workspace to use as a tar, ignored files included. The toolbox keeps the workspace from
// changing meanwhile. Names are relative to the workspace. An incomplete tar ends with an error other than io.EOF. An
// error of use is returned unchanged.
func (c *Client) ReadTree(ctx context.Context, use func(io.Reader) error) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://toolbox/v1/tree", http.NoBody)
	if err != nil {
		return &Broken{"tree", err}
	}
	resp, err := c.sendRequest(req, "tree")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := use(resp.Body); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer)); err != nil {
		// the end shows whether it is complete
		return newBroken(ctx, "tree", err)
	}
	return nil
}
