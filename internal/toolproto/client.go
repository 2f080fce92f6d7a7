package toolproto

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"company/internal/marks/away"
	"company/internal/mux"
)

// maxAnswer bounds an answer. The largest are lists of long paths; decoded, an
// answer may take twenty times as much of the host's memory.
const maxAnswer = 4 << 20

// Client calls the tools of one container. Its methods may be called by many
// goroutines at once. They return a *Refusal when the tool says no, and a
// *Broken when the container does not answer as it should; a context's
// end is found in it by errors.Is.
type Client struct {
	// Grace is from SIGTERM to SIGKILL of a command that is out of time, where
	// it is longer than the toolbox's own. It is set before the client is used.
	Grace time.Duration

	http      *http.Client
	transport *http.Transport
	lose      func() error // ends the link
	stop      context.CancelFunc
	done      sync.WaitGroup
}

// New makes a client on the session's streams and sends heartbeats from then
// on, until Close or the session's end. It does not own the session.
func New(session *mux.Session) *Client {
	ctx, stop := context.WithCancel(context.Background())
	transport := session.Transport()
	c := &Client{http: &http.Client{Transport: transport}, transport: transport, lose: session.Close, stop: stop}
	c.done.Go(func() { c.sendHeartbeats(ctx, session.Done()) })
	return c
}

// Close stops the heartbeats and drops idle connections. Without another client
// the container ends by itself soon after.
func (c *Client) Close() {
	c.stop()
	c.done.Wait()
	c.transport.CloseIdleConnections()
}

func (c *Client) sendHeartbeats(ctx context.Context, gone <-chan struct{}) {
	tick := time.NewTicker(HeartbeatEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-gone:
			return
		case <-tick.C:
			// One that is lost does not matter; the session notices a dead
			// link by itself.
			beat, cancel := context.WithTimeout(ctx, 2*HeartbeatEvery)
			_ = c.Heartbeat(beat)
			cancel()
		}
	}
}

// Heartbeat says that the host lives. It also tells that the toolbox does.
func (c *Client) Heartbeat(ctx context.Context) error {
	return c.callJSON(ctx, "heartbeat", Empty{}, &Empty{})
}

// Shutdown asks the toolbox to kill everything and exit.
func (c *Client) Shutdown(ctx context.Context) error {
	return c.callJSON(ctx, "shutdown", Empty{}, &Empty{})
}

// Prepare clones the repository and checks the run's branch out.
func (c *Client) Prepare(ctx context.Context, r PrepareRequest) (PrepareResult, error) {
	return callTool[PrepareResult](ctx, c, "prepare", r)
}

// Baked tells which history the image brought along.
func (c *Client) Baked(ctx context.Context, path string) (BakedResult, error) {
	return callTool[BakedResult](ctx, c, "baked", BakedRequest{path})
}

// LayOutTimeout bounds the making of a tree before a run asks for its own.
const LayOutTimeout = 2 * time.Minute

// LayOut makes the work tree of the history that the image brought along, and tells which
// that is. It is for a container that waits for a run; Prepare comes after it all the same.
// A Refusal says that git could not, and that the workspace is empty.
func (c *Client) LayOut(ctx context.Context, path string) (BakedResult, error) {
	return callTool[BakedResult](ctx, c, "lay_out", BakedRequest{path})
}

// ReadFile returns lines of a file and notes that it was read.
func (c *Client) ReadFile(ctx context.Context, r ReadFileRequest) (ReadFileResult, error) {
	return callTool[ReadFileResult](ctx, c, "read_file", r)
}

// WriteFile creates or replaces a file; one that exists must have been read.
func (c *Client) WriteFile(ctx context.Context, r WriteFileRequest) (WriteFileResult, error) {
	return callTool[WriteFileResult](ctx, c, "write_file", r)
}

// EditFile replaces text in a file that was read.
func (c *Client) EditFile(ctx context.Context, r EditFileRequest) (EditFileResult, error) {
	return callTool[EditFileResult](ctx, c, "edit_file", r)
}

// Search finds lines.
func (c *Client) Search(ctx context.Context, r SearchRequest) (SearchResult, error) {
	return callTool[SearchResult](ctx, c, "search", r)
}

// ListFiles finds files.
func (c *Client) ListFiles(ctx context.Context, r ListFilesRequest) (ListFilesResult, error) {
	return callTool[ListFilesResult](ctx, c, "list_files", r)
}

// Run runs a command; ending ctx kills it. A toolbox that does not answer long
// after the command's time is over cannot act any more, and the link is given
// up: the container is of no use. What it tells of its output is not more trusted than
// the rest: its lines, their rate and all of them together are bounded here.
func (c *Client) Run(ctx context.Context, r RunRequest) (RunResult, error) {
	limit := time.Duration(r.TimeoutS) * time.Second
	limit = cmp.Or(limit, CommandTimeout)
	bounded, cancel := context.WithTimeoutCause(ctx, limit+c.Grace+Overrun, errOverrun)
	defer cancel()
	res, err := c.runCommand(bounded, r, limit+c.Grace+Overrun)
	if err != nil && ctx.Err() == nil && errors.Is(context.Cause(bounded), errOverrun) {
		_ = c.lose()
		return res, &Broken{"run_command", errOverrun}
	}
	return res, err
}

// runCommand runs a command of at most so long, and passes on what it prints meanwhile.
func (c *Client) runCommand(ctx context.Context, r RunRequest, longest time.Duration) (RunResult, error) {
	if r.OnOutput == nil {
		return callTool[RunResult](ctx, c, "run_command", r)
	}
	var result RunResult
	r.Live = true
	body, err := json.Marshal(r)
	if err != nil {
		return result, &Broken{"run_command", fmt.Errorf("a request that is not JSON: %w", err)}
	}
	resp, err := c.post(ctx, "run_command", body)
	if err != nil {
		return result, err
	}
	defer resp.Body.Close()
	most := maxAnswer + int64(longest/LiveEvery+1)*maxRecent
	lines := bufio.NewReader(io.LimitReader(resp.Body, most))
	for last := (time.Time{}); ; {
		var l struct {
			Recent
			RunResult
		}
		line, err := readLine(lines)
		if err == nil {
			err = json.Unmarshal(line, &l)
		}
		switch {
		case err != nil:
			return result, newBroken(ctx, "run_command", err)
		case l.Recent.Recent == nil:
			_, _ = io.Copy(io.Discard, lines) // to the end, so that the connection can be used again
			return l.RunResult, nil
		case time.Since(last) >= LiveEvery/2:
			last = time.Now()
			r.OnOutput((*l.Recent.Recent)[max(0, len(*l.Recent.Recent)-LiveBytes):])
		}
	}
}

// maxRecent is the most bytes of a line of Recent: each byte may be an escape of six.
const maxRecent = 6*LiveBytes + 32

// readLine reads a line of bounded size; the last one may lack its end.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxAnswer:
			return nil, errors.New("the answer is too large")
		case err == nil, errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

var errOverrun = fmt.Errorf("the container does not answer %s after the command's time was over", Overrun)

// CheckProcess tells how a background process is doing.
func (c *Client) CheckProcess(ctx context.Context, processID string) (RunResult, error) {
	return callTool[RunResult](ctx, c, "check_process", ProcessRequest{processID})
}

// StopProcess ends a process: SIGTERM, 3 s, SIGKILL.
func (c *Client) StopProcess(ctx context.Context, processID string) (RunResult, error) {
	return callTool[RunResult](ctx, c, "stop_process", ProcessRequest{processID})
}

// Processes lists what runs.
func (c *Client) Processes(ctx context.Context) (ProcessList, error) {
	return callTool[ProcessList](ctx, c, "list_processes", Empty{})
}

// KillAll ends every process that Run started.
func (c *Client) KillAll(ctx context.Context) error {
	return c.callJSON(ctx, "kill_all", Empty{}, &Empty{})
}

// GitStatus is the state of the work tree.
func (c *Client) GitStatus(ctx context.Context) (GitStatusResult, error) {
	return callTool[GitStatusResult](ctx, c, "git_status", Empty{})
}

// GitCommit commits and pushes the branch.
func (c *Client) GitCommit(ctx context.Context, r GitCommitRequest) (GitCommitResult, error) {
	return callTool[GitCommitResult](ctx, c, "git_commit", r)
}

// Push pushes the branch as it is.
func (c *Client) Push(ctx context.Context) (PushResult, error) {
	return callTool[PushResult](ctx, c, "push", Empty{})
}

// Checkpoint saves the work tree, uncommitted changes and all.
func (c *Client) Checkpoint(ctx context.Context, run string) (CheckpointResult, error) {
	return callTool[CheckpointResult](ctx, c, "checkpoint", CheckpointRequest{run})
}

// Recall tells the toolbox what the agent knows of files from before.
func (c *Client) Recall(ctx context.Context, known map[string]string) error {
	return c.callJSON(ctx, "recall", RecallRequest{known}, &Empty{})
}

// Log copies the whole log of a process, at most MaxLog bytes, to w.
func (c *Client) Log(ctx context.Context, processID string, w io.Writer) (int64, error) {
	defer away.Begin(ctx)()
	resp, err := c.post(ctx, "log?process_id="+url.QueryEscape(processID), nil)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	n, err := io.Copy(w, io.LimitReader(resp.Body, MaxLog))
	if err != nil {
		return n, newBroken(ctx, "log", err)
	}
	return n, nil
}

func callTool[T any](ctx context.Context, c *Client, tool string, request any) (T, error) {
	var result T
	err := c.callJSON(ctx, tool, request, &result)
	return result, err
}

func (c *Client) callJSON(ctx context.Context, tool string, request, result any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return &Broken{tool, fmt.Errorf("a request that is not JSON: %w", err)}
	}
	resp, err := c.post(ctx, tool, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := decodeBounded(resp.Body, result); err != nil {
		return newBroken(ctx, tool, err)
	}
	return nil
}

// newBroken is the error of an answer that cannot be read. A context that ended is
// its reason: the toolbox may have sent what it had before it noticed.
func newBroken(ctx context.Context, tool string, err error) error {
	if ended := ctx.Err(); ended != nil {
		err = fmt.Errorf("%w: %w", ended, err)
	}
	return &Broken{tool, err}
}

func (c *Client) post(ctx context.Context, tool string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://toolbox/v1/"+tool, bytes.NewReader(body))
	if err != nil {
		return nil, &Broken{tool, fmt.Errorf("a request that cannot be made: %w", err)}
	}
	req.Header.Set("Content-Type", "application/json")
	return c.sendRequest(req, tool)
}

// sendRequest sends a request and sorts what comes back: an answer, a refusal, or neither.
func (c *Client) sendRequest(req *http.Request, tool string) (*http.Response, error) {
	ctx := req.Context()
	back := away.Begin(ctx)
	resp, err := c.http.Do(req)
	back()
	if err != nil {
		return nil, &Broken{tool, err}
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusUnprocessableEntity {
		var refusal Refusal
		if err := decodeBounded(resp.Body, &refusal); err != nil {
			return nil, newBroken(ctx, tool, err)
		}
		return nil, &refusal
	}
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 2<<10))
	return nil, &Broken{tool, fmt.Errorf("%s: %s", resp.Status, bytes.TrimSpace(text))}
}

// decodeBounded reads one JSON value of bounded size to its end, so that the
// connection can be used again.
func decodeBounded(r io.Reader, v any) error {
	data, err := io.ReadAll(io.LimitReader(r, maxAnswer+1))
	if err != nil {
		return err
	}
	if len(data) > maxAnswer {
		return errors.New("the answer is too large")
	}
	return json.Unmarshal(data, v)
}
