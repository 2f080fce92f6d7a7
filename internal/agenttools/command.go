package agenttools

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"time"

	"company/internal/agent"
	"company/internal/toolproto"
)

func (f *toolFactory) runCommand() agent.Tool {
	t := newTool(f, "run_command",
		`Run a command in a fresh bash at the root, without input. With background (a server) it goes on and has a process_id.`,
		`{"type":"object","properties":{
"command":{"type":"string","minLength":1},
"timeout_s":{"type":"integer","minimum":1,"maximum":900,"description":"default `+strconv.Itoa(f.commandTimeout())+`, at most 900"},
"background":{"type":"boolean"}},
"required":["command"],"additionalProperties":false}`, false,
		func(ctx context.Context, a struct {
			Command    string
			TimeoutS   int `json:"timeout_s"`
			Background bool
		}) (agent.Result, error) {
			if a.TimeoutS == 0 {
				a.TimeoutS = f.commandTimeout()
			}
			r, err := f.Toolbox.Run(ctx, toolproto.RunRequest{
				Command: a.Command, TimeoutS: a.TimeoutS, Background: a.Background, Env: f.commandEnvironment(ctx, a.Command),
				OnOutput: agent.OutputOf(ctx),
			})
			if err != nil {
				return agent.Result{}, err
			}
			res, err := f.commandOutput(ctx, r)
			res.Changed = !readsOnly(a.Command)
			return res, err
		})
	// Commands that only read run beside each other, as the tools that only read do.
	t.Reads = func(raw json.RawMessage) bool {
		var a struct {
			Command    string
			Background bool
		}
		return json.Unmarshal(raw, &a) == nil && !a.Background && readsOnly(a.Command)
	}
	return t
}

// commandEnvironment is what one command gets. What it commits has the time of
// the call, so that a command that is done again makes the same commits.
func (f *toolFactory) commandEnvironment(ctx context.Context, command string) map[string]string {
	env := f.commandEnv()
	if at := commitTime(ctx); at != 0 && runsGitCommit(command) {
		env = maps.Clone(env)
		if env == nil {
			env = map[string]string{}
		}
		date := fmt.Sprintf("@%d +0000", at)
		env["GIT_AUTHOR_DATE"], env["GIT_COMMITTER_DATE"] = date, date
	}
	return env
}

// commandTimeout is how long a command may take that asks for no time of its
// own, in seconds.
func (f *toolFactory) commandTimeout() int {
	d := f.CommandTimeout
	if d <= 0 {
		d = toolproto.CommandTimeout
	}
	return int(max(time.Second, min(d, toolproto.MaxCommandTimeout)).Round(time.Second) / time.Second)
}

type processArgs struct {
	ProcessID string `json:"process_id"`
	Stop      bool
}

func (f *toolFactory) checkProcess() agent.Tool {
	t := newTool(f, "check_process",
		`Output of a background process; stop ends it.`,
		`{"type":"object","properties":{
"process_id":{"type":"string","minLength":1},
"stop":{"type":"boolean"}},
"required":["process_id"],"additionalProperties":false}`, false,
		func(ctx context.Context, a processArgs) (agent.Result, error) {
			if a.Stop {
				return f.endProcess(ctx, a)
			}
			r, err := f.Toolbox.CheckProcess(ctx, a.ProcessID)
			if err != nil {
				return agent.Result{}, err
			}
			res, err := f.commandOutput(ctx, r)
			res.NoLoop = r.Running // waiting is no loop; asking again after the end is
			return res, err
		})
	t.Reads = func(raw json.RawMessage) bool {
		var a processArgs
		return json.Unmarshal(raw, &a) == nil && !a.Stop
	}
	return t
}

// stopProcess is the name that stopping a process had of its own.
func (f *toolFactory) stopProcess() agent.Tool {
	t := newTool(f, "stop_process",
		`End a background process.`, `{"type":"object","properties":{
"process_id":{"type":"string","minLength":1}},
"required":["process_id"],"additionalProperties":false}`, false, f.endProcess)
	t.Hidden = true
	return t
}

func (f *toolFactory) endProcess(ctx context.Context, a processArgs) (agent.Result, error) {
	r, err := f.Toolbox.StopProcess(ctx, a.ProcessID)
	if err != nil {
		return agent.Result{}, err
	}
	res, err := f.commandOutput(ctx, r)
	res.Changed = true // what it wrote while it ran belongs to no other result
	return res, err
}
