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

	"company/internal/toolbox/mux"
)

// maxAnswer limits the size of an answer. The largest ones are lists of long paths. Decoded, an answer may take twenty
// times as much of the host's memory.
const maxAnswer = 4 << 20

// Client calls the tools of one container. Its methods are safe for concurrent use. They return a *Refusal if the tool
// refuses the request, and a *Broken if the container does not answer properly. errors.Is finds a context's error in a
// *Broken.
type Client struct {
	// Grace is the time between SIGTERM and SIGKILL for a command that timed out, if it is longer than the toolbox's
	// default. Set it before using the client.
	Grace time.Duration

	http      *http.Client
	transport *http.Transport
	lose      func() error // closes the link
	stop      context.CancelFunc
	done      sync.WaitGroup
}

// New returns a client on the session's streams. It sends heartbeats until Close or the end of the session. It does
// not close the session.
func New(session *mux.Session) *Client {
	ctx, stop := context.WithCancel(context.Background())
	transport := session.Transport()
	client := &Client{http: &http.Client{Transport: transport}, transport: transport, lose: session.Close, stop: stop}
	client.done.Go(func() { client.sendHeartbeats(ctx, session.Done()) })
	return client
}

// Close stops the heartbeats and drops idle connections. Without another client the container soon exits.
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
			// A lost heartbeat does not matter. The session detects a dead link itself.
			beat, cancel := context.WithTimeout(ctx, 2*HeartbeatEvery)
			_ = c.Heartbeat(beat)
			cancel()
		}
	}
}

// Heartbeat tells the toolbox that the host is alive. Success shows that the toolbox is alive, too.
func (c *Client) Heartbeat(ctx context.Context) error {
	return c.callJSON(ctx, "heartbeat", Empty{}, &Empty{})
}

// Shutdown asks the toolbox to kill all processes and exit.
func (c *Client) Shutdown(ctx context.Context) error {
	return c.callJSON(ctx, "shutdown", Empty{}, &Empty{})
}

// Prepare clones the repository and checks out the run's branch.
func (c *Client) Prepare(ctx context.Context, r PrepareRequest) (PrepareResult, error) {
	return callTool[PrepareResult](ctx, c, "prepare", r)
}

// ReadFile returns lines of a file, and records that it was read.
func (c *Client) ReadFile(ctx context.Context, r ReadFileRequest) (ReadFileResult, error) {
	return callTool[ReadFileResult](ctx, c, "read_file", r)
}

// WriteFile creates or replaces a file. An existing file must have been read before.
func (c *Client) WriteFile(ctx context.Context, r WriteFileRequest) (WriteFileResult, error) {
	return callTool[WriteFileResult](ctx, c, "write_file", r)
}

// EditFile replaces text in a file that was read.
func (c *Client) EditFile(ctx context.Context, r EditFileRequest) (EditFileResult, error) {
	return callTool[EditFileResult](ctx, c, "edit_file", r)
}

// Search finds matching lines.
func (c *Client) Search(ctx context.Context, r SearchRequest) (SearchResult, error) {
	return callTool[SearchResult](ctx, c, "search", r)
}

// ListFiles finds files.
func (c *Client) ListFiles(ctx context.Context, r ListFilesRequest) (ListFilesResult, error) {
	return callTool[ListFilesResult](ctx, c, "list_files", r)
}

// Run runs a command, and kills it if ctx ends. If the toolbox does not answer long after the command's timeout, the
// container is unusable and Run closes the link. The live output is not trusted: the number, rate and size of its
// lines are limited here.
func (c *Client) Run(ctx context.Context, runRequest RunRequest) (RunResult, error) {
	limit := time.Duration(runRequest.TimeoutS) * time.Second
	limit = cmp.Or(limit, CommandTimeout)
	bounded, cancel := context.WithTimeoutCause(ctx, limit+c.Grace+Overrun, errOverrun)
	defer cancel()
	res, err := c.runCommand(bounded, runRequest, limit+c.Grace+Overrun)
	if err != nil && ctx.Err() == nil && errors.Is(context.Cause(bounded), errOverrun) {
		_ = c.lose()
		return res, &Broken{"run_command", errOverrun}
	}
	return res, err
}

// runCommand runs a command for at most the given time, and passes on its live output.
func (c *Client) runCommand(ctx context.Context, runRequest RunRequest, longest time.Duration) (RunResult, error) {
	if runRequest.OnOutput == nil {
		return callTool[RunResult](ctx, c, "run_command", runRequest)
	}
	var result RunResult
	runRequest.Live = true
	body, err := json.Marshal(runRequest)
	if err != nil {
		return result, &Broken{"run_command", fmt.Errorf("cannot encode the request: %w", err)}
	}
	resp, err := c.post(ctx, "run_command", body)
	if err != nil {
		return result, err
	}
	defer resp.Body.Close()
	limit := maxAnswer + int64(longest/LiveEvery+1)*maxRecent
	lines := bufio.NewReader(io.LimitReader(resp.Body, limit))
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
			_, _ = io.Copy(io.Discard, lines) // read to the end, so that the connection can be reused
			return l.RunResult, nil
		case time.Since(last) >= LiveEvery/2:
			last = time.Now()
			runRequest.OnOutput((*l.Recent.Recent)[max(0, len(*l.Recent.Recent)-LiveBytes):])
		}
	}
}

// maxRecent is the maximum size of a line of Recent in bytes: each byte may be escaped with six.
const maxRecent = 6*LiveBytes + 32

// readLine reads a line of limited size. The last line may lack its newline.
func readLine(reader *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := reader.ReadSlice('\n')
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

var errOverrun = fmt.Errorf("the container did not answer %s after the command's timeout", Overrun)

// CheckProcess returns the state of a background process.
func (c *Client) CheckProcess(ctx context.Context, processID string) (RunResult, error) {
	return callTool[RunResult](ctx, c, "check_process", ProcessRequest{processID})
}

// StopProcess ends a process with SIGTERM, and with SIGKILL after 3 s.
func (c *Client) StopProcess(ctx context.Context, processID string) (RunResult, error) {
	return callTool[RunResult](ctx, c, "stop_process", ProcessRequest{processID})
}

// Processes lists the running processes.
func (c *Client) Processes(ctx context.Context) (ProcessList, error) {
	return callTool[ProcessList](ctx, c, "list_processes", Empty{})
}

// KillAll ends every process that Run started.
func (c *Client) KillAll(ctx context.Context) error {
	return c.callJSON(ctx, "kill_all", Empty{}, &Empty{})
}

// GitStatus returns the state of the work tree.
func (c *Client) GitStatus(ctx context.Context) (GitStatusResult, error) {
	return callTool[GitStatusResult](ctx, c, "git_status", Empty{})
}

// GitCommit commits and pushes the branch.
func (c *Client) GitCommit(ctx context.Context, r GitCommitRequest) (GitCommitResult, error) {
	return callTool[GitCommitResult](ctx, c, "git_commit", r)
}

// Push pushes the branch.
func (c *Client) Push(ctx context.Context) (PushResult, error) {
	return callTool[PushResult](ctx, c, "push", Empty{})
}

// Checkpoint saves the work tree with its uncommitted changes.
func (c *Client) Checkpoint(ctx context.Context, run string) (CheckpointResult, error) {
	return callTool[CheckpointResult](ctx, c, "checkpoint", CheckpointRequest{run})
}

// Recall tells the toolbox which file contents the agent already knows.
func (c *Client) Recall(ctx context.Context, known map[string]string) error {
	return c.callJSON(ctx, "recall", RecallRequest{known}, &Empty{})
}

// Log copies the log of a process to w, at most MaxLog bytes.
func (c *Client) Log(ctx context.Context, processID string, w io.Writer) (int64, error) {
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

func callTool[T any](ctx context.Context, client *Client, tool string, request any) (T, error) {
	var result T
	err := client.callJSON(ctx, tool, request, &result)
	return result, err
}

func (c *Client) callJSON(ctx context.Context, tool string, request, result any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return &Broken{tool, fmt.Errorf("cannot encode the request: %w", err)}
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

// newBroken returns the error for an answer that cannot be read. If the context ended, that is the reason: the toolbox
// may have sent a partial answer before it noticed.
func newBroken(ctx context.Context, tool string, err error) error {
	if ended := ctx.Err(); ended != nil {
		err = fmt.Errorf("%w: %w", ended, err)
	}
	return &Broken{tool, err}
}

func (c *Client) post(ctx context.Context, tool string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://toolbox/v1/"+tool, bytes.NewReader(body))
	if err != nil {
		return nil, &Broken{tool, fmt.Errorf("cannot create the request: %w", err)}
	}
	req.Header.Set("Content-Type", "application/json")
	return c.sendRequest(req, tool)
}

// sendRequest sends a request and returns the response. Any status but 200 becomes a *Refusal or a *Broken.
func (c *Client) sendRequest(req *http.Request, tool string) (*http.Response, error) {
	ctx := req.Context()
	resp, err := c.http.Do(req)
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

// decodeBounded reads a JSON value of limited size to its end, so that the connection can be reused.
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
