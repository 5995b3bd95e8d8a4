# Compiles and runs the consumer with nothing but pkg-config's answer: pkg_config.sh PREFIX COMPILER SOURCE [FLAG]
set -e
PKG_CONFIG_PATH=$1/share/pkgconfig
export PKG_CONFIG_PATH
"$2" -std=c++20 $4 $(pkg-config --cflags margin) "$3" $(pkg-config --libs margin) -o "$1/consumer"
"$1/consumer"
