# Sourced by scripts that need a bare Debian of some release:
#   make_root RELEASE     makes one in the temporary folder $root, with a clone of the project in /retrace; it is removed
#                         at the end. False, with the reason in $reason, if none can be made here (debootstrap needs the
#                         superuser and a mirror).
#   inside 'COMMANDS'     runs them there, in /retrace, and stops at the first that fails
source=$(git -C "$(dirname "${BASH_SOURCE[0]}")" rev-parse --show-toplevel)
root=

remove_root() {
  [ -n "$root" ] || return 0
  mountpoint -q "$root/proc" && umount "$root/proc"
  mountpoint -q "$root/dev" && umount -R -l "$root/dev"
  rm -rf --one-file-system "$root" "$root.log"
  root=
}
trap remove_root EXIT

make_root() {
  local release=$1 mirror
  root=$(mktemp -d)
  chmod 755 "$root"  # apt reads in it as a user of its own
  mirror=$(grep -rhoE 'https?://[^ ]+/debian/?( |$)' /etc/apt/sources.list /etc/apt/sources.list.d 2>/dev/null | head -1 | tr -d ' ' || true)
  if ! debootstrap --variant=minbase "$release" "$root" "${mirror:-http://deb.debian.org/debian}" >"$root.log" 2>&1 ||
     ! mount -t proc proc "$root/proc" || ! mount --rbind /dev "$root/dev"; then
    reason=$(tail -1 "$root.log")
    remove_root
    return 1
  fi
  mount --make-rslave "$root/dev"
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
  # The lists of a mirror that keeps an older state have expired.
  echo 'Acquire::Check-Valid-Until "false";' >"$root/etc/apt/apt.conf.d/90mirror"
  git clone -q "$source" "$root/retrace" || exit 1  # no reason to skip anything
}

inside() {
  chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive sh -euc "cd /retrace; $1"
}
