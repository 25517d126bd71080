//go:build !linux

package supervise

import (
	"os"
	"syscall"

	"github.com/gorizond/koldun/internal/fault"
)

// openTerminal is there for Linux only; elsewhere output comes by blocks.
func openTerminal() (reader, writer *os.File, err error) {
	return nil, nil, fault.Errorf(fault.Unsupported, "cannot open a terminal on this system")
}

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
