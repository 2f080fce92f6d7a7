package agenttools

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"company/internal/agent"
	"company/internal/toolbox/toolproto"
)

func (f *toolFactory) runCommand() agent.Tool {
	use := `Run a command in a fresh bash at the root, without input. With background (a server) it goes on and has a process_id.`
	if len(f.Commands) > 0 {
		use += " It may start the shell's own commands and: " + strings.Join(f.Commands, ", ") + "."
	}
	tool := newTool(f, "run_command", use,
		`{"type":"object","properties":{
"command":{"type":"string","minLength":1},
"timeout_s":{"type":"integer","minimum":1,"maximum":900,"description":"default `+strconv.Itoa(f.commandTimeout())+
			`, at most 900"},
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
			runResult, err := f.Toolbox.Run(ctx, toolproto.RunRequest{
				Command: a.Command, TimeoutS: a.TimeoutS, Background: a.Background, Env: f.commandEnvironment(ctx, a.Command),
				OnOutput: agent.OutputOf(ctx), ByAgent: true, Programs: f.Commands,
			})
			if err != nil {
				return agent.Result{}, err
			}
			res, err := f.commandOutput(ctx, runResult)
			res.Changed = !readsOnly(a.Command)
			return res, err
		})
	// Read-only commands may run in parallel, like the read-only tools.
	tool.Reads = func(raw json.RawMessage) bool {
		var a struct {
			Command    string
			Background bool
		}
		return json.Unmarshal(raw, &a) == nil && !a.Background && readsOnly(a.Command)
	}
	return tool
}

// commandEnvironment returns the environment of one command. Commits get the time of the call, so a repeated
// command makes the same commits.
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

// commandTimeout returns the default timeout of a command, in seconds.
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
	tool := newTool(f, "check_process",
		`Output of a background process; stop ends it.`,
		`{"type":"object","properties":{
"process_id":{"type":"string","minLength":1},
"stop":{"type":"boolean"}},
"required":["process_id"],"additionalProperties":false}`, false,
		func(ctx context.Context, a processArgs) (agent.Result, error) {
			if a.Stop {
				return f.endProcess(ctx, a)
			}
			runResult, err := f.Toolbox.CheckProcess(ctx, a.ProcessID)
			if err != nil {
				return agent.Result{}, err
			}
			res, err := f.commandOutput(ctx, runResult)
			res.NoLoop = runResult.Running // polling a running process is not a loop; asking after its end is
			return res, err
		})
	tool.Reads = func(raw json.RawMessage) bool {
		var a processArgs
		return json.Unmarshal(raw, &a) == nil && !a.Stop
	}
	return tool
}

// stopProcess returns the older tool for stopping a process.
func (f *toolFactory) stopProcess() agent.Tool {
	tool := newTool(f, "stop_process",
		`End a background process.`, `{"type":"object","properties":{
"process_id":{"type":"string","minLength":1}},
"required":["process_id"],"additionalProperties":false}`, false, f.endProcess)
	tool.Hidden = true
	return tool
}

func (f *toolFactory) endProcess(ctx context.Context, a processArgs) (agent.Result, error) {
	runResult, err := f.Toolbox.StopProcess(ctx, a.ProcessID)
	if err != nil {
		return agent.Result{}, err
	}
	res, err := f.commandOutput(ctx, runResult)
	res.Changed = true // changes that the process made while it ran belong to no other result
	return res, err
}
