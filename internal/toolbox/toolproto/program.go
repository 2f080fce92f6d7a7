package toolproto

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ProgramRequest starts a program in the workspace, without a shell. Its input is Stdin and then the end of the file.
type ProgramRequest struct {
	Argv  []string          `json:"argv"`          // an absolute path first
	Env   map[string]string `json:"env,omitempty"` // in addition to the environment of commands
	Stdin []byte            `json:"stdin,omitempty"`
	Home  []byte            `json:"home,omitempty"` // from Client.ReadHome: written before it starts
}

// HomeRequest names folders below the home folder of commands.
type HomeRequest struct {
	Folders []string `json:"folders"`
}

// ProgramOutput is a piece of what a program printed, as it came.
type ProgramOutput struct {
	Stderr bool   `json:"stderr,omitempty"`
	Data   []byte `json:"data"`
}

// ProgramExit tells how a program ended.
type ProgramExit struct {
	ExitCode   int    `json:"exit_code"` // 128 and the signal's number for one that a signal ended
	DurationMS int64  `json:"duration_ms"`
	Note       string `json:"note,omitempty"` // what happened besides, such as a lack of memory
}

// ProgramLine is a line of the answer about a program: its output until its exit.
type ProgramLine struct {
	Output *ProgramOutput `json:"output,omitempty"`
	Exit   *ProgramExit   `json:"exit,omitempty"`
}

// RunProgram runs a program to its end and passes on what it prints. If ctx ends, the program and its processes are
// killed. The program waits while out does not return. Its output is not limited here.
func (c *Client) RunProgram(
	ctx context.Context, request ProgramRequest, out func(ProgramOutput),
) (exit ProgramExit, err error) {
	body, err := json.Marshal(request)
	if err != nil {
		return exit, &Broken{"program", fmt.Errorf("cannot encode the request: %w", err)}
	}
	resp, err := c.post(ctx, "program", body)
	if err != nil {
		return exit, err
	}
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	for {
		line, err := readLine(lines)
		if err != nil {
			return exit, newBroken(ctx, "program", err)
		}
		var said ProgramLine
		if err := json.Unmarshal(line, &said); err != nil {
			return exit, newBroken(ctx, "program", err)
		}
		switch {
		case said.Exit != nil:
			return *said.Exit, ctx.Err() // a killed program has an exit, too
		case said.Output != nil:
			out(*said.Output)
		}
	}
}

// ReadHome returns the files below folders of the home folder, of at most MaxHome bytes. Their form is the toolbox's
// own: they are for a ProgramRequest.
func (c *Client) ReadHome(ctx context.Context, folders []string) ([]byte, error) {
	const tool = "home"
	body, err := json.Marshal(HomeRequest{Folders: folders})
	if err != nil {
		return nil, &Broken{tool, fmt.Errorf("cannot encode the request: %w", err)}
	}
	resp, err := c.post(ctx, tool, body)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	files, err := io.ReadAll(io.LimitReader(resp.Body, 2*MaxHome))
	if err == nil && len(files) == 2*MaxHome {
		err = errors.New("the answer is too large")
	}
	if err != nil {
		return nil, newBroken(ctx, tool, err)
	}
	return files, nil
}
