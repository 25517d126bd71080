package supervise

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// openTerminal opens a raw pseudo-terminal. Programs write to a terminal line by
// line, but to a pipe in blocks of 4 KiB, which a signal loses. The caller closes
// both ends.
func openTerminal() (reader, writer *os.File, err error) {
	reader, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot open a terminal: %w", err)
	}
	defer func() {
		if err != nil {
			_ = reader.Close()
		}
	}()
	number, err := unlock(reader)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot unlock a terminal: %w", err)
	}
	writer, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot open a terminal: %w", err)
	}
	if err = control(writer, raw); err != nil {
		_ = writer.Close()
		return nil, nil, fmt.Errorf("cannot configure a terminal: %w", err)
	}
	return reader, writer, nil
}

func unlock(f *os.File) (number int, err error) {
	err = control(f, func(fd int) error {
		if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
			return err
		}
		n, err := unix.IoctlGetUint32(fd, unix.TIOCGPTN)
		number = int(n)
		return err
	})
	return number, err
}

// raw disables the translation of line feeds and the echo.
func raw(fd int) error {
	t, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return err
	}
	t.Oflag &^= unix.OPOST
	t.Lflag &^= unix.ECHO | unix.ICANON | unix.ISIG
	return unix.IoctlSetTermios(fd, unix.TCSETS, t)
}

// control calls a function with the descriptor without making it blocking.
func control(f *os.File, do func(fd int) error) error {
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := c.Control(func(fd uintptr) { inner = do(int(fd)) }); err != nil {
		return err
	}
	return inner
}
