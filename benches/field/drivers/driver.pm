# SPDX-License-Identifier: GPL-3.0-or-later
# The protocol for drivers in Perl: serve(judge => sub {path -> score, verdict, probability},
# learn => sub {[label, path]...}).
package driver;
use strict;
use warnings;

sub serve {
    my %do = @_;
    while (my $line = <STDIN>) {
        chomp $line;
        my ($request, @words) = split /\t/, $line;
        if ($request eq 'judge') {
            print join("\t", $do{judge}->($_)), "\n" for @words;
        } elsif ($request eq 'cost') {
            my ($user, $system) = times;
            open my $status, '<', "/proc/$$/status";
            my ($peak) = join('', <$status>) =~ /VmHWM:\s*(\d+)/;
            printf "%s\t%d\n", $user + $system, $peak // 0;
        } else {
            $do{learn}->(map { [split /=/, $_, 2] } @words) if $request eq 'learn';
            $do{learn}->([$words[0], $words[2]]) if $request eq 'correct';
            print "ok\n";
        }
    }
}

1;
