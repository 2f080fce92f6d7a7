package toolserver

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"company/internal/toolbox/toolproto"
)

// place is the folder and the environment of a command.
type place struct {
	dir string
	env []string
}

// launchProcess starts a command in its own process group. A goroutine waits for its end.
func (s *Server) launchProcess(p *process, at place, script string) error {
	p.done, p.begun = make(chan struct{}), make(chan struct{})
	defer close(p.begun)
	p.started = time.Now()
	killed := s.memory.countKills()
	p.marker = randomName()
	s.processes.add(p)
	if err := s.startProcess(p, at, script); err != nil {
		p.exitCode = 126
		p.log.close()
		close(p.done)
		return err
	}
	go s.watchProcess(p, killed)
	return nil
}

// startProcess starts a program, or a shell for a script, with the mark that identifies its descendants.
func (s *Server) startProcess(p *process, at place, script string) error {
	argv := p.argv
	if argv == nil {
		argv = []string{"bash", "--noprofile", "--norc", "-c", script}
		if _, err := findProgram("bash", at.env); err != nil {
			argv = []string{"sh", "-c", script}
		}
	}
	path, err := findProgram(argv[0], at.env)
	if err != nil {
		return fmt.Errorf("find a shell: %w", err)
	}
	p.cmd = &exec.Cmd{
		Path: path, Args: argv, Dir: at.dir,
		Env:   append(at.env[:len(at.env):len(at.env)], mark+"="+p.marker),
		Stdin: p.stdin, Stdout: p.stdout, Stderr: p.stderr, WaitDelay: pipeDelay,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
	if p.printsTo != nil {
		p.cmd.Stdout, p.cmd.Stderr = p.printsTo[0], p.printsTo[1]
		p.cmd.WaitDelay = drainDelay // the host may be slow to read
	}
	if err := s.children.start(p.cmd); err != nil {
		return toolproto.Refuse(toolproto.KindArgument, "the command cannot be started: %v", err)
	}
	return nil
}

// watchProcess waits for a command's end and records the result. killed is the number of processes killed for lack of
// memory before the command started.
func (s *Server) watchProcess(p *process, killed int64) {
	defer close(p.done)
	err := s.children.wait(p.cmd)
	p.took = time.Since(p.started)
	p.exitCode = exitCode(p.cmd.ProcessState, err)
	if s.memory.countKills() > killed {
		p.starved = s.memory.describeKill()
	}
	// Kill leftovers of the command, which would continue unnoticed.
	p.left = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) == nil
	p.log.close()
}

func exitCode(state *os.ProcessState, err error) int {
	if state == nil {
		return 126
	}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	if code := state.ExitCode(); code >= 0 {
		return code
	}
	if err != nil {
		return 126
	}
	return 0
}
