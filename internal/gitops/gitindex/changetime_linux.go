package gitindex

import "syscall"

func changeTime(about *syscall.Stat_t) syscall.Timespec { return about.Ctim }
