package toolserver

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"company/internal/toolbox/toolproto"
)

// launchProcess starts a command in its own process group, in the spare shell if that fits. A goroutine waits for its
// end.
func (s *Server) launchProcess(p *process, at place, script string) error {
	p.done, p.begun = make(chan struct{}), make(chan struct{})
	defer close(p.begun)
	p.started = time.Now()
	killed := s.memory.countKills()
	traced := hasPipelines(script)
	var sh *spareShell
	if !traced { // a traced shell needs a trap at its end, and eval would hide pipelines from it
		sh = s.spare.takeShell(at, script)
	}
	p.marker = randomName()
	if sh != nil {
		p.marker, p.stdout, p.stderr = sh.marker, sh.stdout, sh.stderr
	}
	s.processes.add(p)
	if sh != nil {
		if err := sh.giveCommand(script); err == nil {
			p.cmd = sh.cmd
			go s.watchProcess(p, killed, func() error { <-sh.exited; return sh.err })
			return nil
		}
		sh.endShell()
	}
	if err := s.startProcess(p, at, script, traced); err != nil {
		p.exitCode = 126
		p.log.close()
		close(p.done)
		return err
	}
	go s.watchProcess(p, killed, func() error { return s.children.wait(p.cmd) })
	return nil
}

// startProcess starts a new shell for a command.
func (s *Server) startProcess(p *process, at place, script string, traced bool) error {
	path, err := findProgram("bash", at.env)
	shell := []string{"bash", "--noprofile", "--norc", "-c", script}
	if err != nil {
		if path, err = findProgram("sh", at.env); err != nil {
			return fmt.Errorf("find a shell: %w", err)
		}
		shell = []string{"sh", "-c", script}
	}
	if shell[0] == "bash" && traced {
		shell[len(shell)-1] = withExitCodeTrace(script, s.codesFile(p))
	}
	p.cmd = shellCommand(path, shell, at, p.marker, p.stdout, p.stderr)
	if err := s.children.start(p.cmd); err != nil {
		return toolproto.Refuse(toolproto.KindArgument, "the command cannot be started: %v", err)
	}
	return nil
}

// shellCommand returns a shell in its own process group, with the mark that identifies its descendants.
func shellCommand(path string, args []string, at place, marker string, stdout, stderr *capture) *exec.Cmd {
	return &exec.Cmd{
		Path: path, Args: args, Dir: at.dir, Env: append(at.env[:len(at.env):len(at.env)], mark+"="+marker),
		Stdout: stdout, Stderr: stderr, WaitDelay: pipeDelay,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
}

// watchProcess waits for a command's end and records the result. killed is the number of processes killed for lack of
// memory before the command started.
func (s *Server) watchProcess(p *process, killed int64, wait func() error) {
	defer close(p.done)
	err := wait()
	p.took = time.Since(p.started)
	p.exitCode = exitCode(p.cmd.ProcessState, err)
	p.pipes = readExitCodes(s.codesFile(p))
	if s.memory.countKills() > killed {
		p.starved = s.memory.describeKill()
	}
	// Kill leftovers of the command, which would continue unnoticed.
	p.left = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) == nil
	p.log.close()
}

// codesFile returns the path of the file in which bash records exit codes of a command's pipelines.
func (s *Server) codesFile(p *process) string {
	return filepath.Join(s.processes.temp, p.id+".pipes")
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
